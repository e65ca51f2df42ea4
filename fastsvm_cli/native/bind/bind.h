// Conversions for all bindings, which pass data to and from Python in buffers, without copies and numpy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/line_blocks.h"
#include "engine/run.h"
#include "text/rows.h"

namespace nb = nanobind;

// Name: a type in signatures and the stub (_native.pyi). The blank in "memoryview [float]" keeps the stub generator
// from taking it for an array type.

// An object with a buffer of numbers, checked at use.
class AnyNumbers : public nb::handle {
public:
    using nb::handle::handle;
    AnyNumbers(const nb::handle& object) : nb::handle(object) {}
    static constexpr auto Name =
        nb::detail::const_name("numpy.typing.NDArray[typing.Any] | array.array[typing.Any] | memoryview [typing.Any]");
};

// Results that are buffers of numbers, with their types in signatures and the stub.
class FloatView : public nb::object {
    NB_OBJECT(FloatView, nb::object, "memoryview [float]", PyMemoryView_Check)
};
class IntegerView : public nb::object {
    NB_OBJECT(IntegerView, nb::object, "memoryview [int]", PyMemoryView_Check)
};
template <class T>
using NumberView = std::conditional_t<std::is_integral_v<std::remove_const_t<T>>, IntegerView, FloatView>;

// Bytes are any object with a buffer, held for the call.
template <> struct nb::detail::type_caster<std::string_view> {
    NB_TYPE_CASTER(std::string_view, const_name("bytes | bytearray | memoryview"))
    type_caster() = default;
    type_caster(const type_caster&) = delete;
    ~type_caster() { PyBuffer_Release(&buffer_); }
    bool from_python(handle object, std::uint32_t, cleanup_list*) noexcept {
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE) != 0) return PyErr_Clear(), false;
        value = {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
        return true;
    }

private:
    Py_buffer buffer_{};
};

// Text, among it names of files, has the bytes that Python makes of names.
template <> struct nb::detail::type_caster<std::string> {
    NB_TYPE_CASTER(std::string, io_name("str | bytes", "str"))
    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept {
        const object bytes = PyUnicode_Check(from.ptr()) ? steal(PyUnicode_EncodeFSDefault(from.ptr())) : borrow(from);
        if (!bytes.is_valid()) return PyErr_Clear(), false;
        if (!PyBytes_Check(bytes.ptr())) return false;
        value.assign(PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
        return true;
    }
    static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
};

// A result: text as bytes.
struct AsBytes {
    std::string text;
};
template <> struct nb::detail::type_caster<AsBytes> {
    NB_TYPE_CASTER(AsBytes, const_name("bytes"))
    static handle from_cpp(const AsBytes& of, rv_policy, cleanup_list*) noexcept {
        return PyBytes_FromStringAndSize(of.text.data(), static_cast<Py_ssize_t>(of.text.size()));
    }
};

using WithoutGil = nb::call_guard<nb::gil_scoped_release>;

// Parsers need whole lines.
inline std::string_view whole_lines(std::string_view text) {
    if (!text.empty() && text.back() != '\n') throw nb::value_error("the text must end in a newline");
    return text;
}

// Raises ValueError(what, where).
[[noreturn]] inline void raise_value_error(const std::string& what, std::int64_t where) {
    PyErr_SetObject(PyExc_ValueError, nb::make_tuple(what, where).ptr());
    throw nb::python_error();
}

// A buffer that keeps `owner` alive; read-only if T is const.
template <class T> NumberView<T> view(T* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
    static std::remove_const_t<T> none;  // even an empty view needs an address
    return nb::steal<NumberView<T>>(
        nb::cast(nb::ndarray<nb::memview, T>(data ? data : &none, shape, owner), nb::rv_policy::reference).release());
}

// A property: the numbers of a member, in a buffer.
template <class T, class Numbers> auto numbers_of(Numbers T::* member) {
    return [member](nb::handle self) {
        const Numbers& numbers = nb::cast<const T&>(self).*member;
        return view(numbers.data(), {static_cast<std::size_t>(numbers.size())}, self);
    };
}

using NumberArray = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SingleArray = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IndexArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnArray = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumbersOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumberMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// An argument or a result: numbers in a buffer, which owns them in a result.
struct Numbers {
    Numbers(std::vector<double> values = {}) : values(std::move(values)) {}
    std::vector<double> values;
};
template <> struct nb::detail::type_caster<Numbers> {
    NB_TYPE_CASTER(Numbers, const_name('@') + make_caster<NumberArray>::Name + const_name('@') + FloatView::Name +
                                const_name('@'))
    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<NumberArray> array;
        if (!array.from_python(from, flags, cleanup)) return false;
        value.values.assign(array.value.data(), array.value.data() + array.value.size());
        return true;
    }
    static handle from_cpp(Numbers&& of, rv_policy, cleanup_list*) noexcept {
        auto* const kept = new std::vector<double>(std::move(of.values));
        const capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
        return view<const double>(kept->data(), {kept->size()}, owner).release();
    }
};

// `out` must have this many pairs. Labels alone have no values, which only some models accept.
inline void check_pairs(const fastsvm::Decisions& out, std::int64_t pairs, bool labels_alone = false) {
    if (out.pairs != pairs) throw nb::value_error("decisions for another number of pairs");
    if (out.labels_alone && !labels_alone) throw nb::value_error("labels alone have no values");
}

// An argument: a source of bytes, whose methods are called on any thread. read_into(memoryview) fills at least one
// byte, and returns their number, 0 at the end; ready() tells whether it returns at once.
template <> struct nb::detail::type_caster<fastsvm::ByteStream> {
    NB_TYPE_CASTER(fastsvm::ByteStream, const_name("typing.Any"))
    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<std::function<std::size_t(AnyNumbers)>> read;
        make_caster<std::function<bool()>> ready;
        const object of = getattr(from, "read_into", none()), at_once = getattr(from, "ready", none());
        if (of.is_none() || !read.from_python(of, flags, cleanup) || !ready.from_python(at_once, flags, cleanup))
            return false;
        value.read = [read = std::move(read.value)](char* target, std::size_t size) {
            const gil_scoped_acquire acquire;
            const object view = steal(PyMemoryView_FromMemory(target, static_cast<Py_ssize_t>(size), PyBUF_WRITE));
            const std::size_t got = read(AnyNumbers(view));
            view.attr("release")();  // the memory ends with this call
            return got;
        };
        value.ready = std::move(ready.value);
        return true;
    }
};

// A Python function that takes the bytes of an output; may be null.
using WriteBytes = std::function<nb::object(nb::bytes)>;
fastsvm::Outputs::Write writer(WriteBytes write);

// Runs Python's signal handlers, for code without the GIL. Python runs them on the main thread only. Throws what they
// raise.
inline void heed_signals() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Each adds the classes and functions of its file to the module.
void bind_text(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_model_files(nb::module_& m);
void bind_program(nb::module_& m);

// Binds a class by a table of its fields: the constructor's arguments and the properties.

// A member in Python: as nanobind converts it; numbers in a buffer; indices, given in any sequence, in a buffer; an
// argument of the constructor alone, whose property the base class has.
enum class In { value, buffer, sequence, argument };

// A property, and an argument of the constructor.
template <In in, class Owner, class Member, class Arg> struct Field {
    using Given = std::conditional_t<in == In::buffer, Numbers, Member>;

    static Member taken(Given& given) {
        if constexpr (in == In::buffer)
            return std::move(given.values);
        else
            return std::move(given);
    }
    template <class Class> void add_property(Class& bound) const {
        if constexpr (in == In::buffer || in == In::sequence)
            bound.def_prop_ro(name, numbers_of(member));
        else if constexpr (in == In::value)
            bound.def_ro(name, member);
    }

    const char* name;
    Member Owner::* member;
    Arg arg;
};

template <In in = In::value, class Owner, class Member> auto field(const char* name, Member Owner::* member) {
    return Field<in, Owner, Member, nb::arg>{name, member, nb::arg(name)};
}
// value: the argument's default.
template <In in = In::value, class Owner, class Member, class Value>
auto field(const char* name, Member Owner::* member, Value value) {
    auto arg = nb::arg(name) = std::move(value);
    return Field<in, Owner, Member, decltype(arg)>{name, member, std::move(arg)};
}

// The constructor takes the fields of Made in this order, and calls construct(self, made).
template <class Made, class Class, class Construct, class... Fields>
void bind_fields(Class& bound, Construct construct, const char* doc, Fields... fields) {
    bound.def(
        "__init__",
        [construct, fields...](typename Class::Type* self, typename Fields::Given... given) {
            Made made{};
            ((made.*fields.member = Fields::taken(given)), ...);
            construct(self, std::move(made));
        },
        fields.arg..., doc);
    (fields.add_property(bound), ...);
}

// A class of these fields.
template <class T, class... Fields>
nb::class_<T> bind_record(nb::module_& m, const char* name, const char* doc, Fields... fields) {
    nb::class_<T> bound(m, name, doc);
    bind_fields<T>(bound, [](T* self, T made) { new (self) T(std::move(made)); }, "", fields...);
    return bound;
}

// A kind of compiled model, made of a header or an exact model, `source`, and these fields.
template <class File, class Source, class Base, class... Fields>
nb::class_<File, Base> bind_kind(nb::module_& m, const char* name, const char* doc, const char* source,
                                 Fields... fields) {
    nb::class_<File, Base> bound(m, name, doc);
    bound.def(
        "__init__",
        [fields...](File* self, Source source, typename Fields::Given... given) {
            std::unique_ptr<File, void (*)(File*)> made(new (self) File(std::move(source)),
                                                        [](File* file) { file->~File(); });
            ((made.get()->*fields.member = Fields::taken(given)), ...);
            made->check();
            made.release();
        },
        nb::arg(source), nb::kw_only(), fields.arg...);
    (fields.add_property(bound), ...);
    return bound;
}
