// Binds a class by a table of its fields: the constructor's arguments and the properties.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/bind.h"

// How Python gives and gets a member: as nanobind converts it.
struct AsItIs {
    template <class Member> using Given = Member;
    template <class Member> static Member taken(Member& given) { return std::move(given); }
    template <class Class, class Owner, class Member>
    static void add_property(Class& bound, const char* name, Member Owner::* member) {
        bound.def_ro(name, member);
    }
};
// Numbers in a buffer.
struct AsBuffer {
    template <class Member>
    using Given = nb::ndarray<const typename Member::value_type, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    template <class Array> static auto taken(Array& given) {
        return std::vector(given.data(), given.data() + given.size());
    }
    template <class Class, class Owner, class Member>
    static void add_property(Class& bound, const char* name, Member Owner::* member) {
        bound.def_prop_ro(name, numbers_of<typename Class::Type>(member));
    }
};
// Whole numbers in any sequence, and in a buffer.
struct AsSequence : AsItIs {
    template <class Class, class Owner, class Member>
    static void add_property(Class& bound, const char* name, Member Owner::* member) {
        AsBuffer::add_property(bound, name, member);
    }
};
// Shared rows in a Chunk.
struct AsChunk {
    template <class Member> using Given = const Chunk&;
    static std::shared_ptr<const fastsvm::Rows> taken(const Chunk& given) { return given.rows; }
    template <class Class, class Owner, class Member>
    static void add_property(Class& bound, const char* name, Member Owner::* member) {
        bound.def_prop_ro(name, [member](const typename Class::Type& self) { return Chunk{self.*member}; });
    }
};
// An argument of the constructor alone: the base class has the property.
struct OfBase : AsItIs {
    template <class Class, class Member> static void add_property(Class&, const char*, Member) {}
};

template <class How, class Owner, class Member, class Arg> struct Field : How {
    Field(const char* name, Member Owner::* member, Arg arg) : name(name), member(member), arg(std::move(arg)) {}
    using Given = typename How::template Given<Member>;
    const char* name;
    Member Owner::* member;
    Arg arg;
};

template <class How = AsItIs, class Owner, class Member> auto field(const char* name, Member Owner::* member) {
    return Field<How, Owner, Member, nb::arg>(name, member, nb::arg(name));
}
// value: the argument's default.
template <class How = AsItIs, class Owner, class Member, class Value>
auto field(const char* name, Member Owner::* member, Value value) {
    auto arg = nb::arg(name) = std::move(value);
    return Field<How, Owner, Member, decltype(arg)>(name, member, std::move(arg));
}

// The constructor takes the fields in this order. check(made) throws if they do not fit.
template <class Class, class Check, class... Fields>
void bind_checked_fields(Class& bound, const char* doc, Check check, Fields... fields) {
    using T = typename Class::Type;
    bound.def(
        "__init__",
        [check, fields...](T* self, typename Fields::Given... given) {
            T made{};
            ((made.*fields.member = Fields::taken(given)), ...);
            check(made);
            new (self) T(std::move(made));
        },
        fields.arg..., doc);
    (Fields::add_property(bound, fields.name, fields.member), ...);
}

// A class of these fields. docs: of the class and its constructor.
template <class T, class... Fields>
nb::class_<T> bind_record(nb::module_& m, const char* name, const char* doc, Fields... fields) {
    nb::class_<T> bound(m, name, doc);
    bind_checked_fields(bound, "", [](const T&) {}, fields...);
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
        nb::arg(source), fields.arg...);
    (Fields::add_property(bound, fields.name, fields.member), ...);
    return bound;
}
