// What may stand where.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
}
struct headers_t {
    h_t h;
}
struct meta_t {
    bit<8> b;
}

extern Box {
    void Box(); //~ ERROR cannot have a return type
}
extern Crate {
    Crate(in bit<8> size); //~ ERROR `size` cannot have a direction
}
package Pair(in bit<8> first); //~ ERROR `first` cannot have a direction

control inner(inout meta_t m)() {
    apply {
        m.b = 1;
    }
}
control sized(inout meta_t m)(in bit<8> n) { //~ ERROR `n` cannot have a direction
    apply {
        m.b = n;
    }
}
control optional_size(inout meta_t m)(@optional bit<8> n) { //~ ERROR `n` cannot be `@optional` here
    apply {
        m.b = 2;
    }
}
bit<8> half(@optional in bit<8> x) { //~ ERROR `x` cannot be `@optional` here
    return 1;
}
extern void both(@optional in bit<8> x = 1); //~ ERROR remove one of them

control c(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action a() { }
    action b() { }
    table t {
        key = { h.h.a : exact; }
        actions = { a; b; }
        default_action = a;
    }
    apply {
        inner() twice; //~ ERROR `twice` cannot be instantiated inside the apply block
        twice.apply(m);
        switch (t.apply().action_run) {
            default: { m.b = 1; }
            a: { m.b = 2; } //~ ERROR cannot follow `default`
        }
    }
}

parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        register<bit<8>>(16) cells; //~ ERROR `cells` cannot be instantiated inside a parser state
        packet.extract(h.h);
        transition accept;
    }
}
