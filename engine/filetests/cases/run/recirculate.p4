// A packet goes round once more with a field kept; resubmission starts from the packet as it came in.
// packet 0 0100 0000 00000000
// expect 1 0107 0000 00000000
// packet 0 0200 0000 00000000
// expect 1 0209 0000 00000000
#define OWN_TYPES
#define OWN_EGRESS
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    @field_list(2)
    bit<8> rounds;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.data.a == 2 && meta.rounds == 0) {
            meta.rounds = 9;
            hdr.data.b = 1;
            resubmit_preserving_field_list(2);
        } else if (hdr.data.a == 2) {
            hdr.data.b = hdr.data.b + meta.rounds;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.data.a == 1) {
            if (meta.rounds == 0) {
                meta.rounds = 5;
                hdr.data.b = 2;
                recirculate_preserving_field_list(2);
            } else {
                hdr.data.b = hdr.data.b + meta.rounds;
            }
        }
    }
}

#include "include/pipe.p4"
