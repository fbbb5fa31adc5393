// T2NA: a packet says parts of its mirror session itself: the port, the queue, the hashes of the groups. What it
// does not write is the session's.
// chip mirror 44 3 0
// session 7 3
// packet 0 00 00 002c
// expect 1 00 00 002c
// expect 3 e0 00 00 002c
// The packet's own port, in egress too.
// packet 0 01 04 002c
// expect 1 01 04 002c
// expect 4 e0 01 04 002c
// packet 0 11 05 002c
// expect 1 11 05 002c
// expect 5 e0 11 05 002c
// Zero is a port where it was written.
// packet 0 01 00 002c
// expect 0 e0 01 00 002c
// expect 1 01 00 002c
// A session of P4Runtime.
// packet 0 01 06 0007
// expect 1 01 06 0007
// expect 6 e0 01 06 0007
// Queue and hashes change nothing that is seen here, and are taken.
// packet 0 02 09 002c
// expect 1 02 09 002c
// expect 3 e0 02 09 002c
#include <core.p4>
#include <t2na.p4>

header data_t {
    bit<8> kind;
    bit<8> value;
    bit<16> session;
}

header note_t {
    bit<8> mark;
}

struct headers_t {
    note_t note;
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
        meta.session = (MirrorId_t) hdr.data.session;
        if (hdr.data.kind < 16) {
            dprsr.mirror_type = 1;
        }
        if (hdr.data.kind == 1) {
            dprsr.mirror_egress_port = (PortId_t) hdr.data.value;
        } else if (hdr.data.kind == 2) {
            dprsr.mirror_qid = (QueueId_t) hdr.data.value;
            dprsr.mirror_hash = 77;
            dprsr.mirror_ingress_cos = 3;
            dprsr.mirror_deflect_on_drop = 1;
            dprsr.mirror_multicast_ctrl = 0;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
            mirror.emit<note_t>(meta.session, { 0xe0 });
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition select(pkt.lookahead<bit<8>>()) {
            0xe0: accept;
            default: data;
        }
    }

    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.data.isValid() && hdr.data.kind == 17) {
            dprsr.mirror_type = 1;
            dprsr.mirror_egress_port = (PortId_t) hdr.data.value;
            meta.session = (MirrorId_t) hdr.data.session;
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) {
            mirror.emit<note_t>(meta.session, { 0xe0 });
        }
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
