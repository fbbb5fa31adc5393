// TNA: what was written to a header before it was made valid stays (P4-16, 8.17, leaves it open; the chip keeps it).
// Written, then valid.
// packet 0 01 00 0000
// expect 1 a5 5a 01 00 0000
// Only one field written: the other is zero.
// packet 0 02 00 0000
// expect 1 a5 00 02 00 0000
// Not there, though it was written to.
// packet 0 03 00 0000
// expect 1 03 00 0000
// Written in an action, valid already: nothing is lost.
// packet 0 04 77 0000
// expect 1 a6 77 04 77 0000
// Taken from the packet, removed, and there again.
// packet 0 05 88 1234
// expect 1 05 88 1234
#include "include/tna_pipe.p4"

header tag_t {
    bit<8> first;
    bit<8> second;
}

struct headers_t {
    tag_t tag;
    data_t data;
}

struct metadata_t { }

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    action both() {
        hdr.tag.first = 0xa5;
        hdr.tag.second = 0x5a;
    }
    action add(bit<8> first) {
        hdr.tag.first = first;
        hdr.tag.second = hdr.data.b;
        hdr.tag.setValid();
        hdr.tag.setValid();
    }
    table tags {
        key = { hdr.data.a: exact; }
        actions = { both; add; NoAction; }
        default_action = NoAction;
        const entries = {
            1: both();
            3: both();
            4: add(0xa6);
        }
    }
    apply {
        tm.ucast_egress_port = 1;
        tags.apply();
        if (hdr.data.a == 2) {
            hdr.tag.first = 0xa5;
        }
        if (hdr.data.a == 1 || hdr.data.a == 2) {
            hdr.tag.setValid();
        }
        if (hdr.data.a == 5) {
            hdr.data.setInvalid();
            hdr.data.setValid();
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
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

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
