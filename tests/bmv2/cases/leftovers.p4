// Values of the packet before: variables that a packet does not set, headers that are made valid again.
#define OWN_TYPES
#include "../../../engine/filetests/cases/run/include/v1.p4"

struct headers_t {
    data_h data;
    data_h more;
}

struct metadata_t {
    bit<8> x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action change() {
        bit<8> y;
        if (hdr.data.b == 3) {
            y = 7;
        }
        hdr.data.b = y;
    }
    apply {
        sm.egress_spec = 1;
        bit<32> x;
        if (hdr.data.a == 1) {
            x = hdr.data.d;
        }
        change();
        hdr.data.c = 8w0 ++ meta.x;
        meta.x = 5;
        hdr.data.d = x;
        hdr.more.setValid();
        hdr.more.a = 5;
        hdr.more.setInvalid();
        hdr.more.setValid();
        hdr.more.b = 6;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
