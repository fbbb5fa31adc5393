// The key of a table is a field of a header that was made invalid after it was written.
#define OWN_TYPES
#include "../../../engine/filetests/cases/run/include/v1.p4"

struct headers_t {
    data_h data;
    data_h gone;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action found(bit<8> value) {
        hdr.data.b = value;
    }
    table t {
        key = { hdr.gone.a: exact; }
        actions = { found; NoAction; }
        default_action = NoAction;
        const entries = {
            5: found(1);
            0: found(2);
        }
    }
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 1) {
            hdr.gone.setValid();
            hdr.gone.a = 5;
            hdr.gone.setInvalid();
        }
        t.apply();
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
