// An action that no table lists takes headers and structs, which its callers give.
// packet 0 01 02 03
// expect 1 02 01 09
// packet 0 ff 02 03
// expect 1 ff 07 08
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

struct pair_t {
    bit<8> x;
    bit<8> y;
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
    action swap(data_t of, bit<8> last) {
        hdr.data.a = of.b;
        hdr.data.b = of.a;
        hdr.data.c = last;
    }
    action put(pair_t pair) {
        hdr.data.b = pair.x;
        hdr.data.c = pair.y;
    }
    apply {
        std.egress_spec = 1;
        if (hdr.data.a == 0xff) {
            put({ 7, 8 });
        } else {
            swap(hdr.data, 9);
        }
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
