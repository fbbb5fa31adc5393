// TNA: what finds its queue full goes where the control plane wants to see it, if the program says so, and a
// port in a loop gives back what it sends. Two copies go to one port whose queues hold one packet.
// chip node 1 10 1 1
// chip group 5 1
// chip capacity 1 1
// Nowhere to go yet.
// packet 0 01 01 0000
// expect 1 01 00 0001
// chip deflect 0 3 2
// packet 0 01 01 0000
// expect 1 01 00 0001
// expect 3 01 02 0001
// The program does not ask for it.
// packet 0 00 01 0000
// expect 1 00 00 0001
// Port 4 is looped: what goes there comes in again.
// chip loop 4
// packet 0 04 00 0000
// expect 2 04 00 0004
#include "include/tna_chip.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        if (hdr.data.a == 4) {
            tm.ucast_egress_port = intr.ingress_port == 4 ? 9w2 : 9w4;
            hdr.data.c = (bit<16>) intr.ingress_port;
        } else {
            tm.mcast_grp_a = 5;
            tm.deflect_on_drop = hdr.data.a[0:0];
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr) {
    apply {
        hdr.data.b = (bit<8>) intr.deflection_flag * 2;
        if (hdr.data.a != 4) {
            hdr.data.c = 1;
        }
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
