// Functions, parsers and controls with type parameters: written, inferred from arguments, and from what takes them.
// packet 0 0102 0304 00000005
// expect 1 0602 0404 0000000c
#define OWN_PARSER
#define OWN_COMPUTE
#include "include/v1.p4"

T larger<T>(in T a, in T b) {
    T best = a;
    if (b > a) {
        best = b;
    }
    return best;
}

void swap<T>(inout T a, inout T b) {
    T kept = a;
    a = b;
    b = kept;
}

parser Part<H>(packet_in packet, out H taken) {
    state start {
        packet.extract(taken);
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Part<data_h>() part;
    state start {
        part.apply(packet, hdr.data);
        transition accept;
    }
}

control Adds<T>(inout T value)(T by) {
    action add() {
        value = value + by;
    }
    table adds {
        actions = { add; }
        const default_action = add();
    }
    apply {
        adds.apply();
    }
}

control Increments<T>(inout T value) {
    apply {
        value = value + 1;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Adds<bit<8>>(3) small;
    Adds<bit<16>>(0x100) large;
    Adds(32w7) inferred;
    apply {
        sm.egress_spec = 1;
        swap(hdr.data.a, hdr.data.b);
        hdr.data.b = larger<bit<8>>(hdr.data.a, hdr.data.b);
        small.apply(hdr.data.a);
        large.apply(hdr.data.c);
        inferred.apply(hdr.data.d);
        Increments<bit<8>>.apply(hdr.data.a);
    }
}

control C<H, M>(inout H hdr, inout M meta) {
    apply { }
}

#include "include/pipe.p4"
