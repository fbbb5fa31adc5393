// An action too large to be copied to where it runs works with the same validity, metadata and local variables as its control.
// packet 0 0000 1234 01020304
// expect 1 0709 1234 91a45304
#define OWN_TYPES
#include "include/v1.p4"

struct headers_t {
    data_h data;
    data_h extra;
}

struct metadata_t {
    bit<8> x;
}

#define STEP hdr.data.d = hdr.data.d * 3 + 1;
#define STEPS_4 STEP STEP STEP STEP
#define STEPS_16 STEPS_4 STEPS_4 STEPS_4 STEPS_4
#define STEPS_64 STEPS_16 STEPS_16 STEPS_16 STEPS_16
#define STEPS_256 STEPS_64 STEPS_64 STEPS_64 STEPS_64

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<8> runs = 0;

    action grow() {
        STEPS_256 STEPS_256 STEPS_256 STEPS_256
        meta.x = hdr.extra.isValid() ? 8w7 : 8w1;
        hdr.extra.setInvalid();
        runs = runs + 1;
    }

    table one {
        actions = { grow; }
        default_action = grow();
    }

    table two {
        actions = { grow; }
        default_action = grow();
    }

    apply {
        sm.egress_spec = 1;
        hdr.extra.setValid();
        one.apply();
        hdr.data.a = meta.x;
        hdr.extra.setValid();
        two.apply();
        hdr.data.b = meta.x + runs;
    }
}

#include "include/pipe.p4"
