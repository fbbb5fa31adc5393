// switch on a number and on an enum.
// packet 0 0100 0000 00000000
// expect 1 0111 0000 00000001
// packet 0 0900 0000 00000000
// expect 1 0933 0000 00000002
#include "include/v1.p4"

enum Kind { Small, Large }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        Kind kind = hdr.data.a < 4 ? Kind.Small : Kind.Large;
        switch (hdr.data.a) {
            1: { hdr.data.b = 0x11; }
            2:
            3: { hdr.data.b = 0x22; }
            default: { hdr.data.b = 0x33; }
        }
        switch (kind) {
            Kind.Small: { hdr.data.d = 1; }
            Kind.Large: { hdr.data.d = 2; }
        }
    }
}

#include "include/pipe.p4"
