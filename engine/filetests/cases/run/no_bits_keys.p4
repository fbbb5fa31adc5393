// `bit<0>` in keys, parameters of actions, selects, switches and operators: one value, which is always met.
// add I.t 1 => I.set(7)
// packet 0 0102 0304 00000000
// expect 1 0702 0304 00000037
// packet 0 0202 0304 00000000
// expect 1 0502 0304 00000037
#define OWN_PARSER
#define OWN_TYPES
#include "include/v1.p4"

struct headers_t {
    data_h data;
}

struct metadata_t {
    bit<0>  empty;
    bit<32> seen;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition select(meta.empty, hdr.data.b) {
            (0, 1): reject;
            (0, 2): more;
            default: reject;
        }
    }
    state more {
        transition select(meta.empty) {
            0: last;
            default: reject;
        }
    }
    state last {
        meta.seen = 1;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<0> nothing, bit<8> value) {
        hdr.data.a = value;
        meta.empty = nothing;
    }
    action add(in bit<32> more, bit<0> nothing) {
        meta.seen = meta.seen + more;
    }
    table t {
        key = { meta.empty: exact; hdr.data.a: exact; meta.empty: ternary @name("again"); }
        actions = { set; NoAction; }
        default_action = set(0, 5);
    }
    table only {
        key = { meta.empty: exact; }
        actions = { NoAction; }
        default_action = NoAction;
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
        only.apply();
        add(2, 0);
        if (meta.empty <= 0 && !(meta.empty < 0)) {
            add(4, meta.empty);
        }
        switch (meta.empty) {
            0: { meta.seen = meta.seen + 16; }
            default: { meta.seen = 0; }
        }
        meta.empty = -meta.empty;
        meta.seen = (meta.seen << ~meta.empty) + 32;
        hdr.data.d = meta.seen;
    }
}

#include "include/pipe.p4"
