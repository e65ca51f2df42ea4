// Chooses the loops of an instruction set at run time, by what the processor supports.
#ifdef FASTSVM_X86
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

#include "simd/loops.h"

namespace fastsvm {

namespace baseline {
extern const Loops table;
}
#ifdef FASTSVM_X86
namespace avx2 {
extern const Loops table;
}
namespace avx512 {
extern const Loops table;
}
namespace avx512_vnni {
extern const GridLoops grid;
}
#endif

namespace {

#ifdef FASTSVM_X86
// The table with other loops over whole numbers.
Loops with_grid(Loops table, const char* name, const GridLoops& grid) {
    table.name = name;
    table.grid = &grid;
    return table;
}
const Loops avx512_vnni_table = with_grid(avx512::table, "avx512_vnni", avx512_vnni::grid);

// Reads the processor's own flags: some compilers and libraries do not know all features.
struct Processor {
    bool avx2 = false, avx512 = false, avx512_vnni = false;

    Processor() {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        const auto has = [](unsigned word, std::initializer_list<int> bits) {
            return std::all_of(bits.begin(), bits.end(), [&](int bit) { return word >> bit & 1; });
        };
        enum { fma = 12, osxsave = 27, lzcnt = 5 };  // leaf 1, ecx; leaf 0x80000001, ecx
        enum { bmi = 3, avx2_ = 5, bmi2 = 8 };       // leaf 7, ebx
        enum { avx512f = 16, avx512dq = 17, avx512bw = 30, avx512vl = 31 };
        enum { vnni = 11, vpopcntdq = 14 };  // leaf 7, ecx
        if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has(ecx, {fma, osxsave})) return;
        unsigned saved, high;
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
        constexpr unsigned wide = 0x6, widest = 0xe6;  // AVX and AVX-512 registers, saved by the system
        if ((saved & wide) != wide || !__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) || !has(ecx, {lzcnt})) return;
        if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return;
        avx2 = has(ebx, {avx2_, bmi, bmi2});
        avx512 = avx2 && (saved & widest) == widest && has(ebx, {avx512f, avx512dq, avx512bw, avx512vl});
        avx512_vnni = avx512 && has(ecx, {vnni, vpopcntdq});
    }
};
#endif

bool runs_here(const Loops& table) {
#ifdef FASTSVM_X86
    static const Processor processor;
    if (&table == &avx512_vnni_table) return processor.avx512_vnni;
    if (&table == &avx512::table) return processor.avx512;
    if (&table == &avx2::table) return processor.avx2;
#endif
    return &table == &baseline::table;
}

const Loops* const all[] = {
#ifdef FASTSVM_X86
    &avx512_vnni_table,
    &avx512::table,
    &avx2::table,
#endif
    &baseline::table,
};

std::atomic<const Loops*> chosen{nullptr};  // several threads may request it first

}  // namespace

const Loops& loops() {
    const Loops* table = chosen.load(std::memory_order_relaxed);
    if (!table) {
        for (const Loops* each : all)
            if (!table && runs_here(*each)) table = each;
        chosen.store(table, std::memory_order_relaxed);
    }
    return *table;
}

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Loops* table : all)
        if (runs_here(*table)) names.push_back(table->name);
    return names;
}

bool select_instruction_set(const char* name) {
    for (const Loops* table : all) {
        if (std::strcmp(table->name, name) == 0 && runs_here(*table)) {
            chosen = table;
            return true;
        }
    }
    return false;
}

void require_instruction_set(const char* name, const char* where) {
    if (select_instruction_set(name)) return;
    std::string found, expected;
    for (const char* c = name; *c; ++c) found += *c < ' ' || *c > '~' ? '?' : *c;
    const std::vector<std::string> names = instruction_sets();
    for (std::size_t i = 0; i < names.size(); ++i)
        expected += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    throw std::invalid_argument(std::string(where) + ": '" + found +
                                "' found, expected an instruction set of this machine: " + expected);
}

void select_instruction_set_of_environment() {
    const char* const variable = "FASTSVM_INSTRUCTIONS";
    const char* const name = std::getenv(variable);
    if (name && *name) require_instruction_set(name, variable);
}

}  // namespace fastsvm
