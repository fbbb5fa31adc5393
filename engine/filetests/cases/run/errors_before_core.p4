// Errors that a program declares before it includes core.p4 stand beside those of core.p4.
// packet 0 0100 0000 00000000
// expect 1 0100 0000 00000000
// packet 0 0200 0000 00000000
// expect 2 0200 0000 00000000
// packet 0 0100
// expect 3 0100
#define OWN_PARSER
error { Unwanted, Unused }

#include "include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        verify(hdr.data.a == 1, error.Unwanted);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.parser_error == error.NoError) {
            sm.egress_spec = 1;
        } else if (sm.parser_error == error.Unwanted) {
            sm.egress_spec = 2;
        } else if (sm.parser_error == error.PacketTooShort) {
            sm.egress_spec = 3;
        }
    }
}

#include "include/pipe.p4"
