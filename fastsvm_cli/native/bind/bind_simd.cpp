// Bindings of simd/: threads, instruction sets and the C library's exp.
#include "bind/bind.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "simd/instruction_sets.h"
#include "simd/library_exp.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "system/platform.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

const char* library_exp_name() {
    const ExpLoop loop = library_exp();
    return !loop ? "" : loop == loops().wide_reference->fused_exp ? "fused" : "plain";
}

}  // namespace

void bind_simd(nb::module_& m) {
    m.def("set_threads", &set_threads, "threads"_a, "0: all processors of the process.");
    m.def("set_threads_here", &set_threads_here, "threads"_a,
          "Threads for work that the calling thread starts; 0: the global setting. Returns the previous value.");
    m.def("get_threads", &get_threads);
    m.def("usable_processors", &usable_processors, "Number of processors available to this process.");
    m.def("select_instruction_set", &select_instruction_set, "name"_a,
          "Use the hot loops of one of instruction_sets(); False if unavailable.");
    m.def("instruction_sets", &instruction_sets, "Instruction sets of this machine and build, fastest first.");
    m.def(
        "multiply_adds",
        [](bool single, std::int64_t times) {
            double sum = 0;
            const nb::gil_scoped_release release;
            return (single ? loops().products->single_multiply_adds : loops().products->double_multiply_adds)(times,
                                                                                                              &sum);
        },
        "single"_a, "times"_a,
        "Do `times` rounds of independent multiply-adds, and return the number of multiply-adds. For benchmarks of the "
        "processor.");
    m.def("library_exp", &library_exp_name,
          "Loop of this instruction set, 'plain' or 'fused', with the bits of this process's exp, for the reference "
          "sum; '' if none: the library is called.");
    m.def("instruction_set", [] { return loops().name; }, "Instruction set of the hot loops in use.");
}
