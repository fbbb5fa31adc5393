// What the cases about orders share: a header of results, a stack with an index of run time, and functions with
// effects. Included in place of v1.p4.
#define OWN_TYPES
#include "v1.p4"

header elem_h {
    bit<8> v;
}

header out_h {
    bit<8> r0;
    bit<8> r1;
    bit<8> r2;
    bit<8> r3;
    bit<8> r4;
    bit<8> r5;
    bit<8> r6;
    bit<8> r7;
    bit<8> r8;
    bit<8> r9;
    bit<8> r10;
    bit<8> r11;
    bit<8> r12;
    bit<8> r13;
    bit<8> r14;
    bit<8> r15;
}

struct pair_t {
    bit<8> a;
    bit<8> b;
}

struct headers_t {
    data_h    data;
    elem_h[2] got;
    out_h     res;
}

struct metadata_t {
    elem_h[2] s;
    elem_h[2] t;
    pair_t    p;
    bit<8>    v;
    bit<8>    w;
}

// One more, in the argument too.
bit<8> bump(inout bit<8> x) {
    x = x + 1;
    return x;
}

bit<32> step(inout bit<32> i) {
    i = i + 1;
    return i;
}

// Both of them in one byte.
bit<8> cat(in bit<8> x, in bit<8> y) {
    return (x << 4) | y;
}

bit<8> add_to(inout bit<8> x, in bit<8> y) {
    x = x + y;
    return x;
}

bit<8> wipe(inout elem_h h) {
    h.setInvalid();
    return 1;
}
