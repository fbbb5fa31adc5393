// Ranges of signed keys are ranges of numbers: -10 .. 5 holds what lies between, whatever the sign.
// -3
// packet 0 fd00 0000 00000000
// expect 1 fd01 0000 00000000
// 5, then 6
// packet 0 0500 0000 00000000
// expect 1 0501 0000 00000000
// packet 0 0600 0000 00000000
// expect 1 0600 0000 00000000
// -11
// packet 0 f500 0000 00000000
// expect 1 f502 0000 00000000
// packet 0 8000 0000 00000000
// expect 1 8002 0000 00000000
// 100
// packet 0 6400 0000 00000000
// expect 1 6409 0000 00000000
// -20 .. 1 of sixteen bits, and the same of a hundred
// add I.wide 0xffec..1 0xfffffffffffffffffffffffec..1 => I.set(7) priority 1
// packet 0 6000 ffed 00000000
// expect 1 6007 ffed 00000000
// packet 0 6000 0001 00000000
// expect 1 6007 0001 00000000
// packet 0 6000 0002 00000000
// expect 1 6009 0002 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) {
        hdr.data.b = value;
    }
    table small {
        key = { (int<8>) hdr.data.a: range @name("a"); }
        actions = { set; NoAction; }
        default_action = NoAction;
        entries = {
            priority = 5: -10 .. 5: set(1);
            priority = 3: -128 .. -11: set(2);
            priority = 9: 90 .. 127: set(9);
        }
    }
    table wide {
        key = {
            (int<16>) hdr.data.c: range @name("c");
            (int<100>) (int<16>) hdr.data.c: range @name("long");
        }
        actions = { set; NoAction; }
        default_action = NoAction;
    }
    apply {
        sm.egress_spec = 1;
        small.apply();
        if (hdr.data.a == 0x60) {
            wide.apply();
        }
    }
}

#include "include/pipe.p4"
