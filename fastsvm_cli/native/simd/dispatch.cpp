// Which build of the hot loops this machine runs.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "simd/instruction_sets.h"
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
// avx512's, but for the loops over whole numbers.
Loops with_grid(Loops table, const char* name, const GridLoops& grid) {
    table.name = name;
    table.grid = &grid;
    return table;
}
const Loops avx512_vnni_table = with_grid(avx512::table, "avx512_vnni", avx512_vnni::grid);
#endif

bool runs_here(const Loops& table) {
#ifdef FASTSVM_X86
    if (&table == &avx512_vnni_table)
        return runs_here(avx512::table) && __builtin_cpu_supports("avx512vnni") &&
               __builtin_cpu_supports("avx512vpopcntdq");
    if (&table == &avx512::table)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && runs_here(avx2::table);
    if (&table == &avx2::table)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
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

std::atomic<const Loops*> chosen{nullptr};  // several threads may be the first to ask

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

void demand_instruction_set(const char* name, const char* where) {
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
    if (name && *name) demand_instruction_set(name, variable);
}

}  // namespace fastsvm
