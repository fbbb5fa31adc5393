// `extract(_)`: read and thrown away.
// packet 0 11223344 01020304 05060708
// expect 1 01020304 05060708
// packet 0 1122
// expect nothing
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header skip_h {
    bit<32> x;
}

struct headers_t {
    data_h data;
}

struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract<skip_h>(_);
        packet.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.parser_error == error.NoError) {
            sm.egress_spec = 1;
        } else {
            mark_to_drop(sm);
        }
    }
}

#include "include/pipe.p4"
