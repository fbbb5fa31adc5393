// Sub-parsers, with constructor parameters, applied in two states.
// packet 0 0102 0304 05060708
// expect 1 0102 0304 0506070a
// packet 0 0902 0304 05060708
// expect 1 0902 0304 0506070b
// What follows a header of seven bytes stays, also when the packet bypasses its queue.
// packet 0 0102 0003 00020001 0200ffff
// expect 1 0102 0003 00020003 0200ffff
// packet 0 0902 0003 00020001 0300ffff
// expect 1 0902 0003 00020004 0300ffff
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

header byte_h {
    bit<8> value;
}

header rest_h {
    bit<8>  b;
    bit<16> c;
    bit<32> d;
}

struct headers_t {
    byte_h first;
    rest_h rest;
}

struct metadata_t {
    bit<8> sum;
}

parser Rest(packet_in packet, out rest_h rest, inout bit<8> sum)(bit<8> plus) {
    state start {
        packet.extract(rest);
        sum = sum + plus;
        transition select(rest.b) {
            2: two;
            default: reject;
        }
    }
    state two {
        sum = sum + rest.b;
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Rest(0) plain;
    Rest(1) more;

    state start {
        packet.extract(hdr.first);
        transition select(hdr.first.value) {
            9: nine;
            default: other;
        }
    }
    state nine {
        more.apply(packet, hdr.rest, meta.sum);
        transition accept;
    }
    state other {
        plain.apply(packet, hdr.rest, meta.sum);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.rest.d[7:0] = hdr.rest.d[7:0] + meta.sum;
    }
}

#include "include/pipe.p4"
