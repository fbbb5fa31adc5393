// TNA: actions of one control-plane name and the same data are one to the control plane, which names a table
// with each action. Each table runs its own.
// add I.in_table 1 => note(5)
// add E.out_table 1 => note(6)
// packet 0 01 00 0000
// expect 1 01 05 0006
// packet 0 02 00 0000
// expect 1 02 00 0000
// add I.in_table 2 => nop()
// add E.out_table 2 => nop()
// packet 0 02 00 0000
// expect 1 02 09 0000
#include "include/tna_pipe.p4"

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

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    @name(".nop") action nop() {
        hdr.data.b = 9;
    }
    @name(".note") action note(bit<8> value) {
        hdr.data.b = value;
    }
    table in_table {
        key = { hdr.data.a : exact; }
        actions = { nop; note; }
    }
    apply {
        tm.ucast_egress_port = 1;
        in_table.apply();
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

control E(inout headers_t hdr, inout metadata_t meta) {
    @name(".nop") action nop() { }
    @name(".note") action note(bit<8> value) {
        hdr.data.c = (bit<16>) value;
    }
    table out_table {
        key = { hdr.data.a : exact; }
        actions = { nop; note; }
    }
    apply {
        out_table.apply();
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
