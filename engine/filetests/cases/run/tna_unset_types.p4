// TNA: a deparser's `resubmit_type`, `mirror_type` and `digest_type` ask for nothing while nobody has written
// them. Written as 0 they are a type like another. What lies elsewhere can be told apart by the port.
// session 7 3
// Nothing is written: no copy, no digest, no second pass.
// packet 0 00 00 0000
// expect 1 00 00 0000
// Written as 0: resubmitted, once.
// packet 0 01 00 0000
// expect 1 01 5a 0000
// Mirrored at ingress.
// packet 0 02 00 0000
// expect 1 02 00 0000
// expect 3 02 00 0000
// A digest.
// packet 0 03 00 1234
// expect_digest ID.digest 0x1234
// expect 1 03 00 1234
// Mirrored at egress.
// packet 0 04 00 0000
// expect 1 04 00 0000
// expect 3 04 00 0000
#include "include/tna_pipe.p4"

header again_t {
    bit<8> value;
    bit<56> pad;
}

struct headers_t {
    data_t data;
}

struct note_t {
    bit<16> value;
}

struct metadata_t {
    again_t again;
    note_t note;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition select(intr.resubmit_flag) {
            1: resubmitted;
            default: first;
        }
    }
    state resubmitted {
        pkt.extract(meta.again);
        transition data;
    }
    state first {
        pkt.advance(PORT_METADATA_SIZE);
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
    action again() {
        dprsr.resubmit_type = 0;
    }
    action copy() {
        dprsr.mirror_type = 0;
    }
    action tell(bit<3> type) {
        dprsr.digest_type = type;
    }
    table kinds {
        key = { hdr.data.a: exact; }
        actions = { again; copy; tell; NoAction; }
        const entries = {
            1: again();
            2: copy();
            3: tell(0);
        }
        const default_action = NoAction;
    }
    apply {
        tm.ucast_egress_port = 1;
        meta.note.value = hdr.data.c;
        if (intr.resubmit_flag == 1) {
            hdr.data.b = meta.again.value;
        } else {
            kinds.apply();
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    Resubmit() resubmit;
    Digest<note_t>() digest;
    apply {
        if (dprsr.mirror_type == 0) {
            mirror.emit(7);
        }
        if (dprsr.resubmit_type == 0) {
            resubmit.emit<again_t>({ 0x5a, 0 });
        }
        if (dprsr.digest_type == 0) {
            digest.pack(meta.note);
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.data.a == 4 && intr.egress_port == 1) {
            dprsr.mirror_type = 0;
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 0) {
            mirror.emit(7);
        }
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
