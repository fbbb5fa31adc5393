// A select none of whose cases matches.
#define OWN_PARSER
#include "../../../engine/filetests/cases/run/include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.a) {
            1: accept;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.NoMatch) {
            hdr.data.b = 9;
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
