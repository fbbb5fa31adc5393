// TNA: a copy for the controller leaves whatever the packet itself does: it goes on by a port that is idle,
// comes back by recirculation, or is dropped in egress.
// cpu_port 64
// session 5 64
// session 6 68
// The packet leaves by port 2, the copy goes to the controller.
// packet 0 01 02 0005
// expect 2 01 02 0005
// expect 64 e0 01 02 0005
// packet 0 02 02 0005
// expect 2 02 02 0005
// expect 64 e0 02 02 0005
// The copy comes back to ingress, which sends it by port 3.
// packet 0 03 02 0006
// expect 2 03 02 0006
// expect 3 e0 03 02 0006
// Egress drops the packet that has 255 in front, never the copy.
// packet 0 ff 02 0005
// expect 64 e0 ff 02 0005
#include "include/tna_pipe.p4"

header note_t {
    bit<8> kind;
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
        transition select(pkt.lookahead<bit<8>>()) {
            0xe0: mirrored;
            default: data;
        }
    }

    state mirrored {
        pkt.extract(hdr.note);
        transition data;
    }

    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        if (hdr.note.isValid()) {
            tm.ucast_egress_port = 3;
        } else {
            tm.ucast_egress_port = (PortId_t) hdr.data.b;
            meta.session = (MirrorId_t) hdr.data.c;
            dprsr.mirror_type = 1;
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
          in egress_intrinsic_metadata_from_parser_t prsr,
          inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {
        if (hdr.data.isValid() && hdr.data.a == 0xff) {
            dprsr.drop_ctl = 1;
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
