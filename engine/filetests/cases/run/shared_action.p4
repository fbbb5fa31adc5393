// A global action that two tables list with the same bound argument is one action.
// add one 1 => my_drop()
// packet 0 0100 0000 00000000
// expect nothing
// packet 0 0200 0000 00000000
// expect 1 0200 0000 00000000
#include "include/v1.p4"

action my_drop(inout standard_metadata_t smeta) {
    mark_to_drop(smeta);
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    @name(".one")
    table one {
        key = { hdr.data.a: exact; }
        actions = { my_drop(sm); NoAction; }
        default_action = NoAction();
    }
    table two {
        key = { hdr.data.b: exact; }
        actions = { my_drop(sm); NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        one.apply();
        two.apply();
    }
}

#include "include/pipe.p4"
