// What an optional or default parameter leaves open is not asked for; written-out values behind `?:`.
#include <core.p4>

header h_t {
    bit<8> a;
    bit<16> b;
}
struct s_t {
    h_t h;
}
struct extra_t {
    bit<8> e;
}
extern void learn<T, R>(in T data, @optional in R more);

control Block<H>(inout H h, in extra_t more = { 0 });
package Own<H1, H2>(Block<H1> first, @optional Block<H2> second);

control C(inout s_t s) {
    apply {
        learn(s.h);
        const int<6> by = 1;
        s.h.a = s.h.a << by;
        s.h = s.h.a == 1 ? { 1, 2 } : s.h.a == 2 ? { 3, 4 } : { 5, 6 };
        s.h = s.h.a == 1 ? { 8w1, 16w2 } : { 8w3, 16w4 };
        s.h = s.h.a == 1 ? { 1, 2 } : { 3 }; //~ ERROR the branches
        s.h = s.h.a == 1 ? { 1, 2 } : { 3w1, 4w1 }; //~ ERROR the branches
        s.h = s.h.a == 1
            ? { 3w1, 16w1 } //~ ERROR expected `bit<8>`, found `bit<3>`
            : { 3w2, 16w2 }; //~ ERROR expected `bit<8>`, found `bit<3>`
    }
}
Own(C()) main;
