// The native core's module; bindings only, no computation.
#include "bind/bind.h"

#include "simd/loops.h"
#include "simd/parallel.h"

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);
    // Once, before any thread needs it. An unknown name fails the import, before a type is registered, which cannot be
    // repeated.
    fastsvm::select_instruction_set_of_environment();
    fastsvm::check_while_working(heed_signals);  // Ctrl-C raises KeyboardInterrupt in a long call

    bind_text(m);
    bind_exact(m);
    bind_engine(m);
    bind_model_files(m);
    bind_program(m);
}
