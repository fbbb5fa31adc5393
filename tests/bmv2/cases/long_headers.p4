// Headers of more than 512 bytes are added to a packet.
#define OWN_TYPES
#include "../../../engine/filetests/cases/run/include/v1.p4"

header long_h {
    bit<2000> x;
    bit<2000> y;
    bit<104> z;
}

struct headers_t {
    data_h data;
    long_h long;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.long.setValid();
        hdr.data.d = sm.packet_length;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
