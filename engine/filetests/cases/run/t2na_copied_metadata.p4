// T2NA: a control that is applied with several arguments works on copies of the chip's metadata. What comes back
// unchanged was not written: it asks for no mirror, and refuses no field that the switch does not act on.
// chip mirror 0 3 0
// packet 0 00 00
// expect 1 00 00
// packet 0 01 00
// expect 1 01 00
// expect 3 e0 01 00
#include <core.p4>
#include <t2na.p4>

header data_t {
    bit<8> kind;
    bit<8> value;
}

header note_t {
    bit<8> mark;
}

struct headers_t {
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

control Choose(inout headers_t hdr, inout bit<8> other, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
               inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        if (hdr.data.kind == 1) {
            dprsr.mirror_type = 0;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Choose() choose;
    apply {
        bit<8> one = 1;
        bit<8> two = 2;
        if (hdr.data.value == 0) {
            choose.apply(hdr, one, dprsr, tm);
        } else {
            choose.apply(hdr, two, dprsr, tm);
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(0) mirror;
    apply {
        mirror.emit<note_t>(0, { 0xe0 });
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
