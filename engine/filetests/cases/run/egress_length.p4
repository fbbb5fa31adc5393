// packet_length in egress: the length on arrival, with what setValid added and setInvalid took away. A header that is
// copied adds nothing to it, as in BMv2.
// packet 0 0000 0000 00000000 ffff
// expect 1 0000 0000 0000000a ffff
// packet 0 0100 0000 00000000 ffff
// expect 1 0100 0000 00000012 0000 0000 00000000 ffff
// packet 0 0200 0000 00000000
// expect 1 0200 0000 00000008
// packet 0 0300 0000 00000000
// expect 1 0300 0000 00000008 0300 0000 00000000
// packet 0 0400 0000 00000000
// expect 1 0000 0000 00000000
#define OWN_TYPES
#define OWN_EGRESS
#include "include/v1.p4"

struct headers_t {
    data_h data;
    data_h extra;
}

struct metadata_t { }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        switch (hdr.data.a) {
            1: {
                hdr.extra.setValid();
                hdr.extra.setValid();
            }
            2: {
                hdr.extra.setValid();
                hdr.extra.setInvalid();
            }
            3: {
                hdr.extra = hdr.data;
            }
            4: {
                hdr.data.setInvalid();
                hdr.extra.setValid();
            }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.d = sm.packet_length;
    }
}

#include "include/pipe.p4"
