// Profiles made in a table's property: the property's @name, or one after the table.
// member shared 1 I.put(5)
// member I.second.implementation 1 I.put(6)
// add I.first 0 => member 1
// add I.second 1 => member 1
// packet 0 0000 0000 00000000
// expect 1 0005 0000 00000000
// packet 0 0100 0000 00000000
// expect 1 0106 0000 00000000
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action put(bit<8> value) {
        hdr.data.b = value;
    }
    table first {
        key = { hdr.data.a: exact; }
        actions = { put; NoAction; }
        @name("shared") implementation = action_profile(4);
    }
    table second {
        key = { hdr.data.a: exact; }
        actions = { put; NoAction; }
        implementation = action_profile(4);
    }
    apply {
        sm.egress_spec = 1;
        first.apply();
        second.apply();
    }
}

#include "include/pipe.p4"
