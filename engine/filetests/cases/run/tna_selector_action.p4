// TNA: packets take members of a group out of the choice and put them back, by the bits of the selector's memory.
// The first byte says what to do: 0 forwards by a group, 1 clears a bit, 2 sets it and says what it was.
// member I.ap 1 I.mark(0x11)
// member I.ap 2 I.mark(0x22)
// member I.ap 3 I.mark(0x33)
// member I.bits_ap 4 I.mark(0x44)
// member I.bits_ap 5 I.mark(0x55)
// The second group has a line of 128 bits of its own.
// group I.ap 7 1 2
// group I.ap 8 2 3
// add I.chosen 0x05 => group 7
// add I.chosen 0x06 => group 8
// packet 0 00 05 00000000
// expect 1 00 05 00000011
// packet 0 00 05 00000001
// expect 1 00 05 00000022
// The first place of the first group.
// packet 0 01 00 00000000
// expect 1 01 00 00000000
// packet 0 00 05 00000000
// expect 1 00 05 00000022
// Member 2 in the second group: place 128.
// packet 0 01 00 00000080
// expect 1 01 00 00000080
// packet 0 00 06 00000000
// expect 1 00 06 00000033
// packet 0 00 05 00000000
// expect 1 00 05 00000022
// Back again: the result is the bit before.
// packet 0 02 00 00000000
// expect 1 02 00 00000000
// packet 0 02 00 00000000
// expect 1 02 01 00000000
// packet 0 00 05 00000000
// expect 1 00 05 00000011
// Places without a member, and behind the last: nothing changes.
// packet 0 01 00 00000002
// expect 1 01 00 00000002
// packet 0 01 00 ffffffff
// expect 1 01 00 ffffffff
// packet 0 00 05 00000000
// expect 1 00 05 00000011
// Both out: nothing is chosen.
// packet 0 01 00 00000000
// expect 1 01 00 00000000
// packet 0 01 00 00000001
// expect 1 01 00 00000001
// packet 0 00 05 00000000
// expect 1 00 05 00000000
// A group in the place of the default entry follows, too.
// set_default_entry I.chosen group 8
// packet 0 00 99 00000000
// expect 1 00 99 00000033
// packet 0 02 00 00000080
// expect 1 02 00 00000080
// packet 0 00 99 00000000
// expect 1 00 99 00000022
// The bits of the other selector are a register that the program names. It holds 1 for a member.
// group I.bits_ap 1 4 5
// add I.fair 0x05 => group 1
// packet 0 03 05 00000001
// expect 1 03 05 00000055
// packet 0 04 00 00000001
// expect 1 04 00 00000001
// register I.bits 0 1
// register I.bits 1 0
// packet 0 03 05 00000001
// expect 1 03 05 00000044
// Within one packet what was cleared is out of the choice at once.
// packet 0 05 05 00000000
// expect 1 05 05 00000000
#include "include/tna_head.p4"

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) hash;
    ActionProfile(16) ap;
    ActionSelector(ap, hash, SelectorMode_t.RESILIENT, 8, 4) selector;
    SelectorAction(selector) down = {
        void apply(inout bit<1> value) {
            value = 0;
        }
    };
    SelectorAction(selector) up = {
        void apply(inout bit<1> value, out bit<1> before) {
            before = value;
            value = 1;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) other_hash;
    Register<bit<1>, bit<8>>(130) bits;
    ActionProfile(16) bits_ap;
    ActionSelector(bits_ap, other_hash, SelectorMode_t.FAIR, bits, 8, 4) bits_selector;
    SelectorAction(bits_selector) fair_down = {
        void apply(inout bit<1> value) {
            value = 0;
        }
    };
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
    table fair {
        key = { hdr.data.b: exact; hdr.data.c: selector; }
        actions = { mark; NoAction; }
        default_action = NoAction;
        implementation = bits_selector;
        size = 16;
    }
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
        if (hdr.data.a == 0) {
            chosen.apply();
        } else if (hdr.data.a == 1) {
            down.execute(hdr.data.c);
        } else if (hdr.data.a == 2) {
            hdr.data.b = 7w0 ++ up.execute(hdr.data.c);
        } else if (hdr.data.a == 3) {
            fair.apply();
        } else if (hdr.data.a == 4) {
            fair_down.execute(hdr.data.c);
        } else {
            fair_down.execute(hdr.data.c);
            fair.apply();
        }
    }
}

#include "include/tna_tail.p4"
