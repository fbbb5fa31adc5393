// A pipe around one ingress control, for cases of Tofino's rules.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
    bit<32> d;
    bit<32> e;
}

struct headers_t {
    data_t data;
}

struct metadata_t {
    bit<19> depth;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        meta.depth = 0;
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        meta.depth = 0;
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply { }
}
