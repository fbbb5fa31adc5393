// TNA: what goes with a resubmission or a mirrored copy may have no bits.
// session 7 3
// packet 0 01 00 0000
// expect 1 01 01 0000
// packet 0 02 00 0000
// expect 2 02 00 0000
// expect 3 02 00 0000
#include "include/tna_pipe.p4"

header empty_t { }

struct headers_t {
    data_t data;
}

struct metadata_t {
    empty_t empty;
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
        tm.ucast_egress_port = (PortId_t) hdr.data.a;
        if (hdr.data.a == 1 && intr.resubmit_flag == 0) {
            dprsr.resubmit_type = 1;
        } else if (hdr.data.a == 1) {
            hdr.data.b = 1;
        } else {
            dprsr.mirror_type = 2;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Resubmit() again;
    Mirror() mirror;
    apply {
        if (dprsr.resubmit_type == 1) {
            again.emit(meta.empty);
        }
        if (dprsr.mirror_type == 2) {
            mirror.emit(7, meta.empty);
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
