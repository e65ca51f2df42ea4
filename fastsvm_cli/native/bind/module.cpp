// The native core's module. A file per room, of text/ one for each of its subjects, binds what there is for Python, and
// does none of it.
#include "bind/bind.h"

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);

    bind_scaling(m);
    bind_rows(m);
    bind_text(m);
    bind_answers(m);
    bind_exact(m);
    bind_models(m);
    bind_simd(m);
}
