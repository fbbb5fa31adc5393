// Parsers, deparsers and an egress that says what the chip tells it, for cases of the chip's tables.
#include "tna_pipe.p4"

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

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
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

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}
