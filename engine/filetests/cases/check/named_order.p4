// Arguments with names are looked at in the order written: what one gives a value the next can read.
#include <core.p4>
#include <v1model.p4>

struct headers_t { }
struct metadata_t { }
struct pair_t {
    bit<8> a;
    bit<8> b;
}

bit<8> give(out bit<8> x) {
    x = 1;
    return 2;
}

bit<8> sum(in bit<8> x, in bit<8> y) {
    return x + y;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<8> v;
        bit<8> w = sum(y = give(v), x = v);
        bit<8> u;
        pair_t p = { b = give(u), a = u };
        sm.egress_spec = (bit<9>)(w + p.a);
        bit<8> late;
        w = sum(y = late, x = give(late)); //~ WARN `late` may be read before it has a value
        sm.priority = (bit<3>)w;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
