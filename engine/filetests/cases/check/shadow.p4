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
        bit<8> y = 2; //~ WARN `y` hides another `y`
        y = y + 1;
    }
    return y;
}

parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    bit<8> LIMIT = 5; //~ WARN `LIMIT` hides another `LIMIT`
    state start {
        bit<8> m = LIMIT; //~ ERROR `m` hides the parameter `m`
        transition accept;
    }
}

control c(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action set(bit<8> m) { //~ WARN `m` hides another `m`
        bit<9> s = 1; //~ ERROR `s` hides the parameter `s`
    }
    apply {
        bit<8> twice = 1; //~ WARN `twice` hides another `twice`
        for (bit<8> i in 1 .. 3) {
            bit<8> i = 4; //~ WARN `i` hides another `i`
        }
        set(twice);
    }
}
