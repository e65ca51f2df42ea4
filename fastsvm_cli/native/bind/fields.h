// Binds a class by a table of its fields: the constructor's arguments and the properties.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/bind.h"

// A member in Python: as nanobind converts it; numbers in a buffer; indices, given in any sequence, in a buffer; an
// argument of the constructor alone, whose property the base class has.
enum class In { value, buffer, sequence, argument };

// A property, and an argument of the constructor. Rows are in a Chunk.
template <In in, class Owner, class Member, class Arg> struct Field {
    static constexpr bool rows = std::is_same_v<Member, std::shared_ptr<const fastsvm::Rows>>;
    using Given = std::conditional_t<rows, Chunk, std::conditional_t<in == In::buffer, NumberArray, Member>>;

    static Member taken(Given& given) {
        if constexpr (rows)
            return given.rows;
        else if constexpr (in == In::buffer)
            return Member(given.data(), given.data() + given.size());
        else
            return std::move(given);
    }
    template <class Class> void add_property(Class& bound) const {
        if constexpr (rows)
            bound.def_prop_ro(name, [of = member](const Owner& self) { return Chunk{self.*of}; });
        else if constexpr (in == In::buffer || in == In::sequence)
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
