// Conversions for all bindings, which pass data to and from Python in buffers, without copies and numpy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
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

// An argument: the bytes of any object with a buffer.
class Bytes {
public:
    Bytes() = default;
    ~Bytes() { PyBuffer_Release(&view_); }
    Bytes(const Bytes&) = delete;
    bool take(nb::handle object) {
        const bool taken = PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) == 0;
        if (!taken) PyErr_Clear();
        return taken;
    }
    const char* data() const { return static_cast<const char*>(view_.buf); }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }
    std::string_view text() const { return {data(), size()}; }

private:
    Py_buffer view_{};
};
template <> struct nb::detail::type_caster<Bytes> {
    NB_TYPE_CASTER(Bytes, const_name("bytes | bytearray | memoryview"))
    bool from_python(handle object, std::uint32_t, cleanup_list*) noexcept { return value.take(object); }
};
using WithoutGil = nb::call_guard<nb::gil_scoped_release>;

// Parsers need whole lines.
inline void check_whole_lines(const Bytes& bytes, std::size_t from) {
    if (from > bytes.size()) throw nb::value_error("offset beyond the text");
    if (bytes.size() > from && bytes.data()[bytes.size() - 1] != '\n')
        throw nb::value_error("the text must end in a newline");
}

inline nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Bytes of a text that is made without the GIL.
template <class Write> nb::bytes written(Write write) {
    std::string text;
    {
        const nb::gil_scoped_release release;
        text = write();
    }
    return bytes_of(text);
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

// A view that owns its numbers.
inline FloatView owned(std::vector<double> numbers) {
    auto* const storage = new std::vector<double>(std::move(numbers));
    nb::capsule owner(storage, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return view<const double>(storage->data(), {storage->size()}, owner);
}

// `out` must have this many pairs. Labels alone have no values, which only some models accept.
inline void check_pairs(const fastsvm::Decisions& out, std::int64_t pairs, bool labels_alone = false) {
    if (out.pairs != pairs) throw nb::value_error("decisions for another number of pairs");
    if (out.labels_alone && !labels_alone) throw nb::value_error("labels alone have no values");
}

// A Python source of bytes, called on any thread.
using ReadInto = std::function<std::size_t(AnyNumbers)>;
using Ready = std::function<bool()>;
fastsvm::ByteStream stream_of(ReadInto read_into, Ready ready);

// A Python function that takes the bytes of an output; may be null.
using WriteBytes = std::function<nb::object(nb::bytes)>;
fastsvm::Outputs::Write writer(WriteBytes write);

// The name of a file, as its bytes, or other text.
inline std::string text_of(nb::handle value) {
    const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(value.ptr()));
    if (!bytes.is_valid()) throw nb::python_error();
    return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

// A file's name in Python.
inline nb::object decoded(const std::string& name) {
    return nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

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
    using Given = std::conditional_t<in == In::buffer, NumberArray, Member>;

    static Member taken(Given& given) {
        if constexpr (in == In::buffer)
            return Member(given.data(), given.data() + given.size());
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

// The constructor takes the fields in this order. check(made) throws if they do not fit.
template <class Class, class Check, class... Fields>
void bind_checked_fields(Class& bound, Check check, Fields... fields) {
    using T = typename Class::Type;
    bound.def(
        "__init__",
        [check, fields...](T* self, typename Fields::Given... given) {
            T made{};
            ((made.*fields.member = Fields::taken(given)), ...);
            check(made);
            new (self) T(std::move(made));
        },
        fields.arg...);
    (fields.add_property(bound), ...);
}

// A class of these fields.
template <class T, class... Fields>
nb::class_<T> bind_record(nb::module_& m, const char* name, const char* doc, Fields... fields) {
    nb::class_<T> bound(m, name, doc);
    bind_checked_fields(bound, [](const T&) {}, fields...);
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
