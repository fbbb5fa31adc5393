// All match kinds.
// add I.match 1 0x0a00/8 0x10&&&0xf0 * 1..5 => I.set(0xa1) priority 10
// add I.match 1 0x0a00/8 * 7 0..9 => I.set(0xa2) priority 5
// packet 0 010a 1207 00000003
// expect 1 01a1 1207 00000003
// packet 0 010a 2207 00000003
// expect 1 01a2 2207 00000003
// packet 0 010a 2208 00000003
// expect 1 01ff 2208 00000003
// packet 0 010a 2207 0000000a
// expect 1 01ff 2207 0000000a
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.data.b = value;
    }
    table match {
        key = {
            hdr.data.a: exact;
            (hdr.data.b ++ 8w0): lpm @name("prefix");
            hdr.data.c[15:8]: ternary;
            hdr.data.c[7:0]: optional;
            hdr.data.d: range;
        }
        actions = { set; }
        default_action = set(0xff);
        size = 64;
    }
    apply {
        sm.egress_spec = 1;
        match.apply();
    }
}

#include "include/pipe.p4"
