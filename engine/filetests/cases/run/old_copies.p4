// clone3, resubmit and recirculate with the data to keep as argument, as v1model had them before field lists.
// session 5 2
// packet 0 0100 0000 00000000
// expect 1 0102 0000 00000000
// expect 2 0100 0000 00000002
// packet 0 0200 0000 00000000
// expect 1 0307 0000 00000000
#define OWN_TYPES
#define OWN_EGRESS
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    bit<8> kept;
    bit<8> lost;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        switch (sm.instance_type) {
            0: {
                meta.kept = hdr.data.a + 1;
                meta.lost = 9;
                if (hdr.data.a == 1) {
                    resubmit({ meta.kept, hdr.data.b });
                } else {
                    meta.kept = 7;
                }
            }
            6: {
                hdr.data.b = meta.kept;
                hdr.data.c[7:0] = meta.lost;
                clone3(CloneType.I2E, 5, { meta.kept });
            }
            4: {
                hdr.data.a = 3;
                hdr.data.b = meta.kept;
                hdr.data.c[7:0] = meta.lost;
            }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 1) {
            hdr.data.d[7:0] = meta.kept;
            hdr.data.d[15:8] = meta.lost;
        } else if (hdr.data.a == 2) {
            recirculate(meta.kept);
        }
    }
}

#include "include/pipe.p4"
