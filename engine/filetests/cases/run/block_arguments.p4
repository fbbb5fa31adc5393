// Controls and parsers handed to constructors: one instance applied through two others keeps one state.
// packet 0 0000 0000 00000000
// expect 1 0304 0000 00000000
// expect_register I.counts.seen 0 3
#define OWN_PARSER
#include "include/v1.p4"

parser Takes(packet_in packet, inout headers_t hdr);
control Steps(inout bit<8> x);

parser One(packet_in packet, inout headers_t hdr) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

parser Via(packet_in packet, inout headers_t hdr)(Takes inner) {
    state start {
        inner.apply(packet, hdr);
        transition accept;
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    One() one;
    Via(one) via;
    state start {
        via.apply(packet, hdr);
        transition accept;
    }
}

control Counts(inout bit<8> x) {
    register<bit<8>>(1) seen;
    apply {
        bit<8> count;
        seen.read(count, 0);
        count = count + 1;
        seen.write(0, count);
        x = x + count;
    }
}

control Twice(inout bit<8> x)(Steps step) {
    apply {
        step.apply(x);
        step.apply(x = x);
    }
}

control Once(inout bit<8> x)(Steps step) {
    apply {
        step.apply(x);
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Counts() counts;
    Twice(counts) twice;
    Once(counts) once;
    Once(Counts()) own;
    apply {
        sm.egress_spec = 1;
        twice.apply(hdr.data.a);
        once.apply(hdr.data.b);
        own.apply(hdr.data.b);
    }
}

#include "include/pipe.p4"
