// TNA: what calls of one state give to a checksum stands one behind the other, in parts of a byte too: a byte
// behind an odd number of bytes is a word's second one.
// packet 0 12 34 56 78 0000 0000
// expect 1 12 34 56 78 68ac 68ac
// packet 0 ff ee dd cc 0000 0000
// expect 1 ff ee dd cc ddbb ddbb
#include <core.p4>
#include <tna.p4>

header parts_t {
    bit<4> a;
    bit<8> b;
    bit<4> c;
    bit<8> d;
    bit<8> e;
    bit<16> whole;
    bit<16> parts;
}

struct headers_t {
    parts_t parts;
}

struct metadata_t {
    bit<16> whole;
    bit<16> parts;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    Checksum() whole;
    Checksum() parts;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.parts);
        whole.add({ hdr.parts.a, hdr.parts.b, hdr.parts.c, hdr.parts.d, hdr.parts.e });
        parts.add(hdr.parts.a);
        parts.add({ hdr.parts.b });
        parts.add({ hdr.parts.c, hdr.parts.d });
        parts.add(hdr.parts.e);
        meta.whole = whole.get();
        meta.parts = parts.get();
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        hdr.parts.whole = meta.whole;
        hdr.parts.parts = meta.parts;
        tm.ucast_egress_port = 1;
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
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
