// What the files that bind a room share. Data crosses as buffers, which neither side copies and which need no numpy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "text/rows.h"

namespace nb = nanobind;

// The bytes of any object with a buffer.
class Bytes {
public:
    explicit Bytes(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~Bytes() { PyBuffer_Release(&view_); }
    Bytes(const Bytes&) = delete;
    const char* data() const { return static_cast<const char*>(view_.buf); }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }

private:
    Py_buffer view_;
};

template <class T> using View = nb::ndarray<nb::memview, const T>;

// A read-only buffer of numbers that `owner` keeps.
template <class T> nb::object view(const T* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
    static const T none{};  // a view of nothing needs an address all the same
    return nb::cast(View<T>(data ? data : &none, shape, owner), nb::rv_policy::reference);
}

// Rows as Python has them: immutable, shared with the models that are made of them.
struct Chunk {
    std::shared_ptr<const fastsvm::Rows> rows;
};

void bind_text(nb::module_& m);
