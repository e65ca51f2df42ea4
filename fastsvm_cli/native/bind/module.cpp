// The native core's module. A file per room, of text/ one for each of its subjects, binds what there is for Python, and
// does none of it.
#include "bind/bind.h"

#include "simd/stop.h"

namespace {

// Of the main thread, for which Python's handlers wait: Ctrl-C raises KeyboardInterrupt in a call that may be long.
void heed_signals() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);
    fastsvm::check_while_working(heed_signals);  // importing it is the main thread's, as a rule

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
