// The native core's module: a file per room binds what it has for Python, and does none of it.
#include "bind/bind.h"

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);

    bind_text(m);
    bind_answers(m);
    bind_exact(m);
    bind_models(m);
    bind_simd(m);
}
