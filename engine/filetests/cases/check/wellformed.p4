// Which types may stand where; which declarations may stand where.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
}
header two_varbits_t {
    varbit<8> a;
    varbit<8> b; //~ ERROR has 2 varbit fields
}
struct headers_t {
    h_t h;
}
struct meta_t {
    bit<8> b;
}
struct holder<T> {
    T field;
}
control plain(inout meta_t m);
parser plain_parser(packet_in packet);

extern Box<T> {
    Box(T value);
    Box(T value); //~ ERROR `Box` is declared twice with the same parameters
    void put(in T value);
    void put(in T value); //~ ERROR `put` is declared twice with the same parameters
    void put(in T value, in bit<8> at);
}
typedef Box<bit<8>> ByteBox;

extern void takes_string(in string text); //~ ERROR `text` of type `string` cannot have a direction
extern void takes_box(inout Box<bit<8>> box); //~ ERROR `box` of type `Box<bit<8>>` cannot have a direction
extern int gives_int(); //~ ERROR cannot return a value of type `int`
extern void takes_tuple(in tuple<bit<8>, plain> pair); //~ ERROR a tuple cannot hold a value of type `plain`
extern void takes_own(Box<Box<bit<8>>> box); //~ ERROR has itself as a type argument
extern bit<8> cell();
bit<8> by_default(in bit<8> x = cell()) { //~ ERROR not a compile-time constant
    return x;
}
holder<plain> hold(in bit<8> x) { //~ ERROR `plain` cannot be the type of a field
    return x;
}
control nested(inout meta_t m, plain inner) { //~ ERROR parameter `inner` cannot be a control
    apply { }
}
control parses(inout meta_t m)(plain_parser inner) { //~ ERROR a control cannot apply a parser
    apply { }
}

control worker(inout meta_t m) {
    apply {
        m.b = m.b / -1; //~ ERROR not defined for negative numbers
        m.b = -7 % m.b; //~ ERROR not defined for negative numbers
        if ((bool)2) { //~ ERROR 2 cannot be cast to `bool`
            m.b = 1;
        }
    }
}
worker() everywhere; //~ ERROR control `everywhere` cannot be instantiated at top level

control c(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    ByteBox<bit<8>>(8w1) box; //~ ERROR already has type arguments
    action a() { }
    table t {
        key = { m.b : exact; }
        actions = { a; }
        default_action = a()(); //~ ERROR only an action can be called here
    }
    apply {
        t.apply();
    }
}
parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    value_set<int>(4) numbers; //~ ERROR a value set cannot hold values of type `int`
    state start {
        transition accept;
    }
}
