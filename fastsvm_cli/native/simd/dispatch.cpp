// Which build of the hot loops this machine runs.
#include <cstring>

#include "simd/loops.h"

namespace fastsvm {

namespace baseline {
extern const Kernels table;
}
#ifdef FASTSVM_X86
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

bool runs_here(const Kernels& table) {
#ifdef FASTSVM_X86
    if (&table == &avx512::table)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
    if (&table == &avx2::table) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return &table == &baseline::table;
}

const Kernels* const all[] = {
#ifdef FASTSVM_X86
    &avx512::table,
    &avx2::table,
#endif
    &baseline::table,
};

const Kernels* best() {
    for (const Kernels* table : all)
        if (runs_here(*table)) return table;
    return &baseline::table;
}

const Kernels* chosen = nullptr;

}  // namespace

const Kernels& kernels() {
    if (!chosen) chosen = best();
    return *chosen;
}

bool select_kernels(const char* name) {
    for (const Kernels* table : all) {
        if (std::strcmp(table->name, name) == 0 && runs_here(*table)) {
            chosen = table;
            return true;
        }
    }
    return false;
}

}  // namespace fastsvm
