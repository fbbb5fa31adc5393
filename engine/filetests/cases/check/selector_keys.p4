// Selector keys without a selector, more entries than the table holds, an action for empty groups: warnings.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action_selector(HashAlgorithm.crc16, 4, 8) members;
    table grouped {
        key = { hdr.data.a: exact; hdr.data.b: selector; }
        actions = { NoAction; }
        implementation = members;
        psa_empty_group_action = NoAction; //~ WARN `psa_empty_group_action` is ignored: an empty group runs no action
    }
    table t { //~ WARN table `t` has selector keys but no action_selector
        key = { hdr.data.a: exact; hdr.data.b: selector; }
        actions = { NoAction; }
        default_action = NoAction;
    }
    table small { //~ WARN table `small` has size 1, but 2 entries are given
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
        grouped.apply();
        t.apply();
        small.apply();
    }
}

#include "../run/include/pipe.p4"
