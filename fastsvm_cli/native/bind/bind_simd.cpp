// The room simd/: threads, and the build of the hot loops.
#include "bind/bind.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "simd/instruction_sets.h"
#include "simd/loops.h"
#include "simd/parallel.h"

using namespace nb::literals;
using namespace fastsvm;

void bind_simd(nb::module_& m) {
    select_instruction_set_of_environment();  // once, before any thread asks: else the module cannot be imported
    m.def("set_threads", &set_threads, "threads"_a, "0: as many as the process may run on.");
    m.def("set_threads_here", &set_threads_here, "threads"_a,
          "For what the calling thread starts from here on; 0: as many as were set for all.");
    m.def("get_threads", &get_threads);
    m.def("select_instruction_set", &select_instruction_set, "name"_a,
          "Use the hot loops built for one of instruction_sets(); False when that cannot be. For tests.");
    m.def("instruction_sets", &instruction_sets, "Those of this machine and build, the fastest first.");
    m.def(
        "multiply_adds",
        [](bool single, std::int64_t times) {
            double sum = 0;
            const nb::gil_scoped_release release;
            return (single ? loops().tiles->single_multiply_adds : loops().tiles->double_multiply_adds)(times, &sum);
        },
        "single"_a, "times"_a,
        "Do so many rounds of independent multiply-adds; returns how many these are. What the processor can do, for "
        "benchmarks.");
    m.def("instruction_set", [] { return loops().name; }, "The one whose build of the hot loops runs.");
}
