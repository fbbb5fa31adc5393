// Serializable enums, new types and errors as values.
// packet 0 0200 0000 00000000
// expect 1 0203 0001 00000000
// packet 0 0700 0000 00000000
// expect 1 0703 0000 00000000
#include "include/v1.p4"

enum bit<8> Colour {
    Red = 1,
    Green = 2,
    Blue = 3
}

type bit<8> id_t;

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        Colour colour = (Colour)hdr.data.a;
        if (colour == Colour.Green) {
            hdr.data.c = 1;
        }
        id_t id = (id_t)(bit<8>)Colour.Blue;
        hdr.data.b = (bit<8>)id;
        error e = error.NoMatch;
        if (e == error.NoError) {
            sm.egress_spec = 2;
        }
    }
}

#include "include/pipe.p4"
