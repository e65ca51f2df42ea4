// The C library's exp, and the choice of a vector loop that gives the same bits.
#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <vector>

#include "simd/loops.h"

namespace fastsvm {

namespace {

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

// Compares a loop, which may be null, with libm_exp.
bool gives_bits_of_library(ExpLoop loop) {
    static const std::vector<double> arguments = telling_arguments();
    if (!loop) return false;
    std::vector<double> lanes = arguments, library = arguments;
    loop(static_cast<std::int64_t>(lanes.size()), 1.0, lanes.data());
    for (double& x : library) x = libm_exp(x);
    return std::memcmp(lanes.data(), library.data(), lanes.size() * sizeof(double)) == 0;
}

}  // namespace

double libm_exp(double x) {
    using Exp = double (*)(double);
    static const Exp found = [] {
        void* const symbol = dlsym(RTLD_DEFAULT, "exp");  // null in a static program
        return symbol ? reinterpret_cast<Exp>(symbol) : static_cast<Exp>(std::exp);
    }();
    return found(x);
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
