// What core.p4's methods ask of their arguments.
#include <core.p4>
#include <v1model.p4>

header fixed_t {
    bit<8> a;
}
header var_t {
    bit<8> a;
    varbit<32> b;
}
struct headers_t {
    fixed_t f;
    var_t v;
    fixed_t[2] s;
}
struct meta_t {
    bit<8> a;
}

parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        packet.extract(h.f);
        packet.extract(h.s); //~ ERROR `extract` takes a header
        packet.extract(m.a); //~ ERROR `extract` takes a header
        packet.extract(h.v); //~ ERROR has no size argument
        packet.extract(h.f, 8); //~ ERROR has no varbit field
        packet.extract(h.v, 8);
        h.v = packet.lookahead<var_t>(); //~ ERROR `lookahead` cannot return a value of type `var_t`
        verify(m.a == 1, error.NoMatch);
        transition accept;
    }
}

parser endless(packet_in packet) { //~ ERROR reaches accept or reject
    state start {
        transition more;
    }
    state more {
        transition start;
    }
}

control c(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        verify(m.a == 1, error.NoMatch); //~ ERROR only be called in a parser
    }
}

control d(packet_out packet, in headers_t h) {
    apply {
        packet.emit(h);
        packet.emit(h.s);
        packet.emit(h.f.a); //~ ERROR cannot be emitted
    }
}
