// TNA: a default entry that is a member or a group; what misses stays a miss. The first byte says hit or miss.
// member I.ap 1 I.mark(0x11)
// member I.ap 2 I.mark(0x22)
// add I.chosen 0x05 => member 2
// packet 0 05 05 00000000
// expect 1 01 05 00000022
// packet 0 05 06 00000000
// expect 1 00 06 00000000
// set_default_entry I.chosen member 1
// packet 0 05 06 00000000
// expect 1 00 06 00000011
// A group: the low bits of the packet choose.
// group I.ap 7 1 2
// set_default_entry I.chosen group 7
// packet 0 05 06 00000000
// expect 1 00 06 00000011
// packet 0 05 06 00000001
// expect 1 00 06 00000022
// The entry itself still hits.
// packet 0 05 05 00000001
// expect 1 01 05 00000022
// The program's default action comes back.
// default I.chosen I.mark(0x33)
// packet 0 05 06 00000001
// expect 1 00 06 00000033
#include "include/tna_head.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) hash;
    ActionProfile(16) ap;
    ActionSelector(ap, hash, SelectorMode_t.RESILIENT, 8, 4) selector;
    action mark(bit<32> value) {
        hdr.data.c = value;
    }
    table chosen {
        key = { hdr.data.b: exact; hdr.data.c: selector; }
        actions = { mark; NoAction; }
        default_action = NoAction;
        implementation = selector;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (chosen.apply().hit) {
            hdr.data.a = 1;
        } else {
            hdr.data.a = 0;
        }
    }
}

#include "include/tna_tail.p4"
