// An action with core.p4's name, where the program does not use core.p4's; one that nothing uses has no name
// that another could share.
// packet 0 01
// expect 1 05
// add t 1 => send(2)
// packet 0 01
// expect 2 01
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

parser P(packet_in pkt, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @name(".NoAction") action nothing() {
        hdr.data.a = 5;
    }
    @name(".send") action unused(bit<9> port) { }
    @name(".send") action send(bit<9> port) {
        std.egress_spec = port;
    }
    @name(".t") table t {
        key = { hdr.data.a : exact; }
        actions = { send; @defaultonly nothing; }
        default_action = nothing();
    }
    apply {
        std.egress_spec = 1;
        t.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control D(packet_out pkt, in headers_t hdr) {
    apply {
        pkt.emit(hdr.data);
    }
}

V1Switch(P(), V(), I(), E(), V(), D()) main;
