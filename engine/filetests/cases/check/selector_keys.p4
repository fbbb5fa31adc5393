// Selector keys without a selector, and more entries than the table holds: warnings.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table t { //~ WARN table `t` has selector keys but no action_selector
        key = { hdr.data.a: exact; hdr.data.b: selector; }
        actions = { NoAction; }
        default_action = NoAction;
    }
    table small { //~ WARN table `small` holds 1 entries, 2 are given
        key = { hdr.data.a: exact; }
        actions = { NoAction; }
        default_action = NoAction;
        size = 1;
        const entries = {
            1: NoAction();
            2: NoAction();
        }
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
        small.apply();
    }
}

#include "../run/include/pipe.p4"
