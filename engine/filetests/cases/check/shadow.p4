// Names that hide other names.
#include <core.p4>
#include <v1model.p4>

const bit<8> LIMIT = 4;

struct headers_t { }
struct meta_t {
    bit<8> a;
}

bit<8> twice(in bit<8> x) {
    bit<8> y = x;
    {
        bit<8> y = 2; //~ WARN `y` shadows another `y`
        y = y + 1;
    }
    return y;
}

parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    bit<8> LIMIT = 5; //~ WARN `LIMIT` shadows another `LIMIT`
    state start {
        bit<8> m = LIMIT; //~ ERROR `m` shadows the parameter `m`
        transition accept;
    }
}

control c(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action set(bit<8> m) { //~ WARN `m` shadows another `m`
        bit<9> s = 1; //~ ERROR `s` shadows the parameter `s`
    }
    apply {
        bit<8> twice = 1; //~ WARN `twice` shadows another `twice`
        for (bit<8> i in 1 .. 3) {
            bit<8> i = 4; //~ WARN `i` shadows another `i`
        }
        set(twice);
    }
}
