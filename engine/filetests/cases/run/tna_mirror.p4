// TNA: mirror sessions of the chip: where the copy goes and how long it is, header included.
// chip mirror 300 3 0
// chip mirror 301 4 4
// packet 0 01 00 012c
// expect 1 01 00 012c
// expect 3 e0 01 00 012c
// packet 0 01 00 012d
// expect 1 01 00 012d
// expect 4 e0 01 00 01
// A session that is not there.
// packet 0 01 00 012e
// expect 1 01 00 012e
#include "include/tna_pipe.p4"

// The chip fills the last byte with zeros.
header note_t {
    bit<3> kind;
}

struct headers_t {
    data_t data;
}

struct metadata_t {
    MirrorId_t session;
}

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
    apply {
        tm.ucast_egress_port = 1;
        meta.session = (MirrorId_t) hdr.data.c;
        dprsr.mirror_type = 1;
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
            mirror.emit<note_t>(meta.session, { 7 });
        }
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
