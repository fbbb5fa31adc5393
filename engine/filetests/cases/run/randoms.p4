// random stays between its bounds; truncate cuts; counters of tables count hits.
// add I.t 7 => NoAction()
// packet 0 0700 0000 00000000 99999999
// expect 1 070* 0000 00000000 99
#include "include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets_and_bytes) hits;
    table t {
        key = { hdr.data.a: exact; }
        actions = { NoAction; }
        default_action = NoAction();
        counters = hits;
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
        random(hdr.data.b, 1, 9);
        truncate(9);
        assert(hdr.data.b != 0);
        log_msg("b = {}", { hdr.data.b });
    }
}

#include "include/pipe.p4"
