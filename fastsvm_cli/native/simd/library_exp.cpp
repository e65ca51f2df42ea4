#include "simd/library_exp.h"

#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <vector>

#include "simd/glibc_exp.h"
#include "simd/loops.h"

namespace fastsvm {

// Rounded to nearest; 2^(i/128) = power (1 + correction).
alignas(64) const std::uint64_t exp_table[128][2] = {
    {0x0000000000000000, 0x3ff0000000000000}, {0x3c9b3b4f1a88bf6e, 0x3feff63da9fb3335},
    {0xbc7160139cd8dc5d, 0x3fefec9a3e778061}, {0xbc905e7a108766d1, 0x3fefe315e86e7f85},
    {0x3c8cd2523567f613, 0x3fefd9b0d3158574}, {0xbc8bce8023f98efa, 0x3fefd06b29ddf6de},
    {0x3c60f74e61e6c861, 0x3fefc74518759bc8}, {0x3c90a3e45b33d399, 0x3fefbe3ecac6f383},
    {0x3c979aa65d837b6d, 0x3fefb5586cf9890f}, {0x3c8eb51a92fdeffc, 0x3fefac922b7247f7},
    {0x3c3ebe3d702f9cd1, 0x3fefa3ec32d3d1a2}, {0xbc6a033489906e0b, 0x3fef9b66affed31b},
    {0xbc9556522a2fbd0e, 0x3fef9301d0125b51}, {0xbc5080ef8c4eea55, 0x3fef8abdc06c31cc},
    {0xbc91c923b9d5f416, 0x3fef829aaea92de0}, {0x3c80d3e3e95c55af, 0x3fef7a98c8a58e51},
    {0xbc801b15eaa59348, 0x3fef72b83c7d517b}, {0xbc8f1ff055de323d, 0x3fef6af9388c8dea},
    {0x3c8b898c3f1353bf, 0x3fef635beb6fcb75}, {0xbc96d99c7611eb26, 0x3fef5be084045cd4},
    {0x3c9aecf73e3a2f60, 0x3fef54873168b9aa}, {0xbc8fe782cb86389d, 0x3fef4d5022fcd91d},
    {0x3c8a6f4144a6c38d, 0x3fef463b88628cd6}, {0x3c807a05b0e4047d, 0x3fef3f49917ddc96},
    {0x3c968efde3a8a894, 0x3fef387a6e756238}, {0x3c875e18f274487d, 0x3fef31ce4fb2a63f},
    {0x3c80472b981fe7f2, 0x3fef2b4565e27cdd}, {0xbc96b87b3f71085e, 0x3fef24dfe1f56381},
    {0x3c82f7e16d09ab31, 0x3fef1e9df51fdee1}, {0xbc3d219b1a6fbffa, 0x3fef187fd0dad990},
    {0x3c8b3782720c0ab4, 0x3fef1285a6e4030b}, {0x3c6e149289cecb8f, 0x3fef0cafa93e2f56},
    {0x3c834d754db0abb6, 0x3fef06fe0a31b715}, {0x3c864201e2ac744c, 0x3fef0170fc4cd831},
    {0x3c8fdd395dd3f84a, 0x3feefc08b26416ff}, {0xbc86a3803b8e5b04, 0x3feef6c55f929ff1},
    {0xbc924aedcc4b5068, 0x3feef1a7373aa9cb}, {0xbc9907f81b512d8e, 0x3feeecae6d05d866},
    {0xbc71d1e83e9436d2, 0x3feee7db34e59ff7}, {0xbc991919b3ce1b15, 0x3feee32dc313a8e5},
    {0x3c859f48a72a4c6d, 0x3feedea64c123422}, {0xbc9312607a28698a, 0x3feeda4504ac801c},
    {0xbc58a78f4817895b, 0x3feed60a21f72e2a}, {0xbc7c2c9b67499a1b, 0x3feed1f5d950a897},
    {0x3c4363ed60c2ac11, 0x3feece086061892d}, {0x3c9666093b0664ef, 0x3feeca41ed1d0057},
    {0x3c6ecce1daa10379, 0x3feec6a2b5c13cd0}, {0x3c93ff8e3f0f1230, 0x3feec32af0d7d3de},
    {0x3c7690cebb7aafb0, 0x3feebfdad5362a27}, {0x3c931dbdeb54e077, 0x3feebcb299fddd0d},
    {0xbc8f94340071a38e, 0x3feeb9b2769d2ca7}, {0xbc87deccdc93a349, 0x3feeb6daa2cf6642},
    {0xbc78dec6bd0f385f, 0x3feeb42b569d4f82}, {0xbc861246ec7b5cf6, 0x3feeb1a4ca5d920f},
    {0x3c93350518fdd78e, 0x3feeaf4736b527da}, {0x3c7b98b72f8a9b05, 0x3feead12d497c7fd},
    {0x3c9063e1e21c5409, 0x3feeab07dd485429}, {0x3c34c7855019c6ea, 0x3feea9268a5946b7},
    {0x3c9432e62b64c035, 0x3feea76f15ad2148}, {0xbc8ce44a6199769f, 0x3feea5e1b976dc09},
    {0xbc8c33c53bef4da8, 0x3feea47eb03a5585}, {0xbc845378892be9ae, 0x3feea34634ccc320},
    {0xbc93cedd78565858, 0x3feea23882552225}, {0x3c5710aa807e1964, 0x3feea155d44ca973},
    {0xbc93b3efbf5e2228, 0x3feea09e667f3bcd}, {0xbc6a12ad8734b982, 0x3feea012750bdabf},
    {0xbc6367efb86da9ee, 0x3fee9fb23c651a2f}, {0xbc80dc3d54e08851, 0x3fee9f7df9519484},
    {0xbc781f647e5a3ecf, 0x3fee9f75e8ec5f74}, {0xbc86ee4ac08b7db0, 0x3fee9f9a48a58174},
    {0xbc8619321e55e68a, 0x3fee9feb564267c9}, {0x3c909ccb5e09d4d3, 0x3feea0694fde5d3f},
    {0xbc7b32dcb94da51d, 0x3feea11473eb0187}, {0x3c94ecfd5467c06b, 0x3feea1ed0130c132},
    {0x3c65ebe1abd66c55, 0x3feea2f336cf4e62}, {0xbc88a1c52fb3cf42, 0x3feea427543e1a12},
    {0xbc9369b6f13b3734, 0x3feea589994cce13}, {0xbc805e843a19ff1e, 0x3feea71a4623c7ad},
    {0xbc94d450d872576e, 0x3feea8d99b4492ed}, {0x3c90ad675b0e8a00, 0x3feeaac7d98a6699},
    {0x3c8db72fc1f0eab4, 0x3feeace5422aa0db}, {0xbc65b6609cc5e7ff, 0x3feeaf3216b5448c},
    {0x3c7bf68359f35f44, 0x3feeb1ae99157736}, {0xbc93091fa71e3d83, 0x3feeb45b0b91ffc6},
    {0xbc5da9b88b6c1e29, 0x3feeb737b0cdc5e5}, {0xbc6c23f97c90b959, 0x3feeba44cbc8520f},
    {0xbc92434322f4f9aa, 0x3feebd829fde4e50}, {0xbc85ca6cd7668e4b, 0x3feec0f170ca07ba},
    {0x3c71affc2b91ce27, 0x3feec49182a3f090}, {0x3c6dd235e10a73bb, 0x3feec86319e32323},
    {0xbc87c50422622263, 0x3feecc667b5de565}, {0x3c8b1c86e3e231d5, 0x3feed09bec4a2d33},
    {0xbc91bbd1d3bcbb15, 0x3feed503b23e255d}, {0x3c90cc319cee31d2, 0x3feed99e1330b358},
    {0x3c8469846e735ab3, 0x3feede6b5579fdbf}, {0xbc82dfcd978e9db4, 0x3feee36bbfd3f37a},
    {0x3c8c1a7792cb3387, 0x3feee89f995ad3ad}, {0xbc907b8f4ad1d9fa, 0x3feeee07298db666},
    {0xbc55c3d956dcaeba, 0x3feef3a2b84f15fb}, {0xbc90a40e3da6f640, 0x3feef9728de5593a},
    {0xbc68d6f438ad9334, 0x3feeff76f2fb5e47}, {0xbc91eee26b588a35, 0x3fef05b030a1064a},
    {0x3c74ffd70a5fddcd, 0x3fef0c1e904bc1d2}, {0xbc91bdfbfa9298ac, 0x3fef12c25bd71e09},
    {0x3c736eae30af0cb3, 0x3fef199bdd85529c}, {0x3c8ee3325c9ffd94, 0x3fef20ab5fffd07a},
    {0x3c84e08fd10959ac, 0x3fef27f12e57d14b}, {0x3c63cdaf384e1a67, 0x3fef2f6d9406e7b5},
    {0x3c676b2c6c921968, 0x3fef3720dcef9069}, {0xbc808a1883ccb5d2, 0x3fef3f0b555dc3fa},
    {0xbc8fad5d3ffffa6f, 0x3fef472d4a07897c}, {0xbc900dae3875a949, 0x3fef4f87080d89f2},
    {0x3c74a385a63d07a7, 0x3fef5818dcfba487}, {0xbc82919e2040220f, 0x3fef60e316c98398},
    {0x3c8e5a50d5c192ac, 0x3fef69e603db3285}, {0x3c843a59ac016b4b, 0x3fef7321f301b460},
    {0xbc82d52107b43e1f, 0x3fef7c97337b9b5f}, {0xbc892ab93b470dc9, 0x3fef864614f5a129},
    {0x3c74b604603a88d3, 0x3fef902ee78b3ff6}, {0x3c83c5ec519d7271, 0x3fef9a51fbc74c83},
    {0xbc8ff7128fd391f0, 0x3fefa4afa2a490da}, {0xbc8dae98e223747d, 0x3fefaf482d8e67f1},
    {0x3c8ec3bc41aa2008, 0x3fefba1bee615a27}, {0x3c842b94c3a9eb32, 0x3fefc52b376bba97},
    {0x3c8a64a931d185ee, 0x3fefd0765b6e4540}, {0xbc8e37bae43be3ed, 0x3fefdbfdad9cbe14},
    {0x3c77893b4d91cd9d, 0x3fefe7c1819e90d8}, {0x3c5305c14160cc89, 0x3feff3c22b8f71f1},
};

namespace {

// Uniform in [0, 1): Steele, Lea and Flood (2014), SplitMix64.
class Uniform {
public:
    double operator()() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

private:
    std::uint64_t state_ = 1;
};

// e^x is within 0.0015 units in the last place of a midpoint of doubles, which shows any difference in rounding: 19
// distinguish glibc's two variants, 28 either from e^x rounded to nearest. Drawn from [-1, 0], [-32, 0] and [-512,
// 512].
constexpr double near_midpoints[] = {
    -0x1.4859beb9233d9p-1, -0x1.16489dd99187cp-2, -0x1.772ea7805f61fp-1, -0x1.9ffddf3f27c44p-3, -0x1.fb4ecec2813f1p-1,
    -0x1.7fb8ff0cf1f00p-1, -0x1.406663ec7ec25p-1, -0x1.dd3033de4a9c8p-4, -0x1.d2b99d9622056p-2, -0x1.7ef4d58fb33e3p-1,
    -0x1.cce7da115fee3p-1, -0x1.a861113473ed3p-1, -0x1.d4a8a7816202bp-1, -0x1.022ef3d12690ep-1, -0x1.3bfc64fb7b86cp-1,
    -0x1.5d5fe71ffa720p-2, -0x1.1a95dc2fbe6dap-1, -0x1.69c5086fcac5fp-1, -0x1.4f8cea5421b39p-1, -0x1.3f15e68789761p-1,
    -0x1.145a9fa929a5dp-1, -0x1.3d981d35d0ebep-1, -0x1.ea6d100060b89p-1, -0x1.ce3e02ab588e2p-2, -0x1.3ea10d2a5ae9ep-1,
    -0x1.9f97b6c8d762ep-2, -0x1.44781ac8dd9c3p-1, -0x1.d056d9825b8bap-1, -0x1.ca5415d4bad08p-3, -0x1.2428027339174p-1,
    -0x1.793412b69d995p-1, -0x1.b7b2a38391631p-1, -0x1.b829bef42c872p-1, -0x1.e5f56556c0712p-2, -0x1.264e83e2f1229p-1,
    -0x1.3cf49004f53cap-1, -0x1.3180a2be2187ep-1, -0x1.c4ed4c7056016p-2, -0x1.5849791578390p-5, -0x1.7e3a565c85fd4p-2,
    -0x1.57043aef48ec0p-5, -0x1.0201e72cfe030p-5, -0x1.7be78db9a1954p-3, -0x1.bc96fa1068ae5p-1, -0x1.23d8869a567a4p-2,
    -0x1.c20d7b4736394p-3, -0x1.b4ba0509f2482p-2, -0x1.f3b01faee6990p-2, -0x1.34c278b40d2e9p+4, -0x1.d3dd6818ecf90p+0,
    -0x1.74fe70a8a2710p+4, -0x1.0c0b3c0474a14p+4, -0x1.17c75bb39e7bep+3, -0x1.dda1b7ecdcc6cp+3, -0x1.1caa1004af7d3p+4,
    -0x1.d6a582e776e9cp+2, -0x1.7cff56047ba06p+4, -0x1.c7ab544a5f960p+0, -0x1.e8b7bc6c15fe0p+0, -0x1.0a7849ed19ff0p+1,
    -0x1.c6e471559b9e3p+4, -0x1.38b31ff204ebcp+2, -0x1.e78d5985c3064p+4, -0x1.54cfd4b28ce90p+0, -0x1.e6c95cd01c39bp+4,
    -0x1.30af24928ccb6p+4, -0x1.804b266329130p+4, -0x1.b8808c94efc00p-6, -0x1.8a91c26db45c1p+4, -0x1.b1ce32dfb7ffcp+2,
    -0x1.82b8bb3706bb0p+3, -0x1.b9a54476e49dfp+4, -0x1.1dc8e8deea69cp+4, -0x1.a44c8c138d568p+4, -0x1.53ea3fe67cb80p+2,
    -0x1.e8b24aeb9f332p+3, -0x1.3c80598dc137ap+4, -0x1.00d2651f75821p+4, -0x1.fb8ad40a01871p+4, -0x1.1db4cf4167cd4p+4,
    -0x1.25e5577f38698p+2, -0x1.d72cef9aabb33p+4, -0x1.1f23835ec8eacp+4, -0x1.260b365bf77b0p+3, -0x1.4b70329fcfcf0p+2,
    -0x1.8da1079d2e77ap+3, -0x1.3bef62a0fe13cp+4, -0x1.8769528fd2d03p+4, -0x1.fdc7eabdca6a8p+3, -0x1.93df7517ff86ap+3,
    -0x1.ce9b52a37faacp+4, -0x1.b6ac7c7560ec8p+4, -0x1.7a6b8206f25e8p+3, -0x1.75484a74fabd0p+4, -0x1.35016d0db2968p+2,
    -0x1.c949116db6c1dp+4, -0x1.9f47138e6e8f0p+5, 0x1.aecffb53e123cp+7,  0x1.6d501524e6792p+8,  -0x1.1d5d87ba76ae8p+7,
    0x1.886e9c64d17c4p+8,  -0x1.8a238a92ce90cp+8, 0x1.69b52db6e52b0p+8,  -0x1.d9731bfd1f51ep+8, -0x1.0270b995b4850p+5,
    -0x1.8bc3a83a1ca64p+7, 0x1.73e8f22c78b88p+8,  0x1.0cf8ce9e1f4acp+8,  0x1.d0158270735bcp+7,  0x1.649c57d2b5f90p+7,
    0x1.4b77b0eb157d8p+8,  0x1.70bb3a195e176p+8,  -0x1.02ed87431513cp+7, 0x1.d99926ca5b0b6p+8,  -0x1.d9b00cdf362fcp+8,
    -0x1.7d675b1ff8314p+8, 0x1.d01e26c7f54aap+8,  -0x1.e7d74b258c178p+7, -0x1.8b58b6083d3e4p+7, 0x1.49560583bb448p+8,
    -0x1.49da1d3f9b1f0p+6, -0x1.3a586aff6ea78p+6, -0x1.7b162bde9eecap+8, -0x1.450ff969ad4f0p+7, -0x1.9203a9d13cb14p+8,
    -0x1.6a7ed79582d02p+8, -0x1.89b4e6307d280p+8, 0x1.3953564c051aep+8};

std::vector<double> telling_arguments() {
    std::vector<double> x(std::begin(near_midpoints), std::end(near_midpoints));
    for (double edge : {0.0, 1e-300, 0x1p-54, exp_near, 708.4, 709.78, 745.13, -exp_zero, 1024.0, 1e300})
        x.insert(x.end(),
                 {edge, -edge, std::nextafter(edge, 0), -std::nextafter(edge, 0), -std::nextafter(edge, 1e301)});
    // Table rows at their middles and ends, where rounding chooses the row.
    constexpr double row = 0.00541521234812457;  // ln 2 / 128
    for (int i = -256; i <= 256; ++i)
        for (double by : {-0.5, -1e-9, 0.25, 0.5 - 1e-9, 0.5 + 1e-9}) x.push_back((i + by) * row);
    while (x.size() % reference_lanes) x.push_back(0);
    return x;
}

struct Found {
    const ReferenceLoops* of;
    ExpLoop loop;
};

}  // namespace

double libm_exp(double x) {
    using Exp = double (*)(double);
    static const Exp found = [] {
        void* const symbol = dlsym(RTLD_DEFAULT, "exp");  // null in a static program
        return symbol ? reinterpret_cast<Exp>(symbol) : static_cast<Exp>(std::exp);
    }();
    return found(x);
}

bool gives_bits_of_library(ExpLoop loop) {
    static const std::vector<double> arguments = telling_arguments();
    if (!loop) return false;
    std::vector<double> lanes = arguments, library = arguments;
    loop(static_cast<std::int64_t>(lanes.size()), 1.0, lanes.data());
    for (double& x : library) x = libm_exp(x);
    return std::memcmp(lanes.data(), library.data(), lanes.size() * sizeof(double)) == 0;
}

ExpLoop library_exp() {
    static std::atomic<const Found*> latest{nullptr};
    const ReferenceLoops* const here = loops().wide_reference;
    const Found* found = latest.load(std::memory_order_acquire);
    if (found && found->of == here) return found->loop;
    static std::mutex one_at_a_time;
    static std::list<Found> all;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    found = nullptr;
    for (const Found& known : all)
        if (known.of == here) found = &known;
    if (!found) {
        ExpLoop loop = nullptr;
        for (const ExpLoop tried : {here->plain_exp, here->fused_exp})
            if (gives_bits_of_library(tried)) loop = tried;
        all.push_back({here, loop});
        found = &all.back();
    }
    latest.store(found, std::memory_order_release);
    return found->loop;
}

}  // namespace fastsvm
