// TNA: multicast of two levels. Members are left out by the packet's level-1 number, ports by its level-2
// number in nodes of its rid, or in all for the global rid, which is 0. One port of a LAG gets a copy.
// chip node 1 10 1 2
// chip node 2 20 2 3
// chip lag 2 4 6 7
// chip group 5 1:100 2
// chip prune 9 2 6
// A rid of none, nothing left out; the first replica is known.
// packet 0 01 00 0000
// expect 1 01 0a 0001
// expect 2 01 0a 0000
// expect 2 01 14 0000
// expect 3 01 14 0000
// expect 6 01 14 0000
// The first member has the packet's level-1 number.
// packet 0 01 00 0064
// expect 2 01 14 0001
// expect 3 01 14 0000
// expect 6 01 14 0000
// Ports are left out in the node of the packet's rid.
// packet 0 14 09 0000
// expect 1 14 0a 0001
// expect 2 14 0a 0000
// expect 3 14 14 0000
// And in all nodes for the global rid.
// packet 0 00 09 0000
// expect 1 00 0a 0001
// expect 3 00 14 0000
// The hash of a LAG is the second byte for a high bit of the first: 7 is odd.
// packet 0 81 07 0000
// expect 1 81 0a 0001
// expect 2 81 0a 0000
// expect 2 81 14 0000
// expect 3 81 14 0000
// expect 7 81 14 0000
// A group that is not there.
// packet 1 01 00 0000
// expect nothing
#include "include/tna_chip.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.mcast_grp_b = intr.ingress_port == 0 ? 16w5 : 16w6;
        tm.rid = (bit<16>) hdr.data.a;
        tm.level1_exclusion_id = hdr.data.c;
        if (hdr.data.a[7:7] == 1) {
            tm.level2_mcast_hash = (bit<13>) hdr.data.b;
        } else {
            tm.level2_exclusion_id = (bit<9>) hdr.data.b;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr) {
    apply {
        hdr.data.b = (bit<8>) intr.egress_rid;
        hdr.data.c = (bit<16>) intr.egress_rid_first;
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
