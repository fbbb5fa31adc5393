// The direct meter of a table that misses, with a default action that executes it.
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    direct_meter<bit<8>>(MeterType.packets) rates;
    action measure() {
        rates.read(meta.x);
    }
    table t {
        key = { hdr.data.a: exact; }
        actions = { measure; }
        default_action = measure();
        meters = rates;
    }
    apply {
        sm.egress_spec = 1;
        meta.x = 9;
        t.apply();
        hdr.data.b = meta.x;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
