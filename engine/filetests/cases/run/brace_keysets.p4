// Keysets in braces: in entries and in selects, of one key and of several.
// packet 0 0105 0002 00000000
// expect 5 0105 0002 00000001
// packet 0 0907 0002 00000000
// expect 6 0907 0002 00000002
// packet 0 0909 0003 00000000
// expect 7 0909 0003 00000000
#define OWN_PARSER
#include "include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.b) {
            { 5 }: five;
            { 8w7 }: seven;
            default: accept;
        }
    }
    state five {
        transition select(hdr.data.a, hdr.data.c) {
            { 1, 16w2 }: one;
            (_, _): accept;
        }
    }
    state one {
        meta.x = 1;
        transition accept;
    }
    state seven {
        meta.x = 2;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action f(bit<9> port) {
        sm.egress_spec = port;
    }
    table pairs {
        key = { hdr.data.b: exact; hdr.data.c: exact; }
        actions = { f; }
        default_action = f(7);
        const entries = {
            { 8w5, 16w2 }: f(5);
            { 7, 2 }: f(6);
        }
    }
    apply {
        pairs.apply();
        hdr.data.d = (bit<32>) meta.x;
    }
}

#include "include/pipe.p4"
