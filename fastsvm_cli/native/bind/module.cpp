// The native core's module; bindings only, no computation.
#include "bind/bind.h"

#include "simd/stop.h"

namespace {

// Python runs signal handlers on the main thread only: Ctrl-C raises KeyboardInterrupt in a long call.
void heed_signals() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);
    fastsvm::check_while_working(heed_signals);  // usually imported by the main thread

    bind_scaling(m);
    bind_rows(m);
    bind_text(m);
    bind_answers(m);
    bind_exact(m);
    bind_models(m);
    bind_model_files(m);
    bind_engine(m);
    bind_run(m);
    bind_files(m);
    bind_simd(m);
}
