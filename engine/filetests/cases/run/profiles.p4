// A table behind an action profile, and one behind a selector.
// member I.profile 1 I.set(0x11)
// member I.profile 2 I.set(0x22)
// add I.plain 1 => member 2
// member I.selector 5 I.set16(0x5555)
// group I.selector 1 5
// add I.chosen 1 => group 1
// packet 0 0100 0000 00000000
// expect 1 0122 5555 00000000
// packet 0 0300 0000 00000000
// expect 1 0300 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action_profile(16) profile;
    action_selector(HashAlgorithm.crc16, 16, 10) selector;
    action set(bit<8> value) {
        hdr.data.b = value;
    }
    action set16(bit<16> value) {
        hdr.data.c = value;
    }
    table plain {
        key = { hdr.data.a: exact; }
        actions = { set; NoAction; }
        implementation = profile;
        default_action = NoAction();
    }
    table chosen {
        key = {
            hdr.data.a: exact;
            hdr.data.d: selector;
        }
        actions = { set16; NoAction; }
        implementation = selector;
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        plain.apply();
        chosen.apply();
    }
}

#include "include/pipe.p4"
