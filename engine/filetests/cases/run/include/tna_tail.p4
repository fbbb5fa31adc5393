// The rest of a TNA program: packets go out as ingress leaves them.
control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

struct none_t { }

parser EP(packet_in pkt, out none_t hdr, out none_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t intr) {
    apply { }
}

control ED(packet_out pkt, inout none_t hdr, in none_t meta) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
