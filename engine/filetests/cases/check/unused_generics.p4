// What has type parameters is checked where nothing uses it, for types of which nothing is known.
#include <core.p4>

header h_t { bit<8> a; }

// Fine with any type.
T same<T>(in T x) { return x; }
T chosen<T>(in bool first, in T x, in T y) { return first ? x : y; }
control Passes<H>(inout H h, in H from) {
    H kept = from;
    action take() { h = kept; }
    table t {
        actions = { take; }
    }
    apply { t.apply(); }
}
struct pair<T> {
    T x;
    T y;
}
header_union either<A, B> {
    A x;
    B y;
}
void swap<T>(inout T x, inout T y) {
    T kept = x;
    x = y;
    y = kept;
}

// A struct in itself, by way of a parameter.
struct box<T> {
    T x;
}
struct two<T> {
    box<T> x;
}
bit<8> opened<T>(in T x) {
    box<T> b;
    two<T> t;
    return b.minSizeInBits() + t.minSizeInBits();
}
bit<8> opens(in box<bit<8>> x) { return opened(x); }

T wrong_result<T>(in bit<8> x) {
    return x; //~ ERROR expected `T`, found `bit<8>`
}
void writes<T>(in T x) {
    swap(x, x); //~ ERROR `x` is an `in` parameter and read-only
}
control Numbers<H>(inout H h) {
    apply {
        H n = 0; //~ ERROR expected `H`
    }
}
struct twice<T, T> { //~ ERROR `T` is already declared in this scope
    T x;
}
header_union holds<T> {
    tuple<T, T> x; //~ ERROR header union
}
