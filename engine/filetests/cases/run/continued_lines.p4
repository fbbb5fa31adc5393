// A backslash at the end of a line joins it with the next one, in the middle of a word as well.
// packet 0 0507 0000 00000000
// expect 1 0507 1234 0000000c
#inc\
lude "include/v1.p4"
#define ADD(x, \
            y) \
    ((x) \
  + (y))
#define JOINED 0x12\
34

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1; // this goes on \
        sm.egress_spec = 2;
        hdr.da\
ta.c = JOINED;
        hdr.data.d \
= (bit<3\
2>)ADD(hdr.data.a, hdr.data.\
b);
    }
}

#include "include/pipe.p4"
