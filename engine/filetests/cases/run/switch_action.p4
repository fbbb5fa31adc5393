// switch on the action that ran, with fall-through and default.
// add I.t 1 => I.one()
// add I.t 2 => I.two()
// add I.t 3 => I.three()
// packet 0 0100 0000 00000000
// expect 1 010c 0000 00000000
// packet 0 0200 0000 00000000
// expect 1 020c 0000 00000000
// packet 0 0300 0000 00000000
// expect 1 0303 0000 00000000
// packet 0 0400 0000 00000000
// expect 1 04ff 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action one() { }
    action two() { }
    action three() { }
    table t {
        key = { hdr.data.a: exact; }
        actions = { one; two; three; NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        switch (t.apply().action_run) {
            one:
            two: { hdr.data.b = 12; }
            three: { hdr.data.b = 3; }
            default: { hdr.data.b = 0xff; }
        }
    }
}

#include "include/pipe.p4"
