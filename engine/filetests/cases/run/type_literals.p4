// A number without width is a value of a `type`: in assignments, initialisers, arguments, results, keysets, entries, calls of
// actions, lists and `?:`.
// packet 0 0102 0007 00000000
// expect 1 0b02 0009 00000c15
// packet 0 0302 0105 00000000
// expect 2 1102 00ff 00000a16
// packet 0 0902 0205 00000000
// expect 3 1202 0005 00000a17
// add I.learned 21 => I.say(3)
// packet 0 0902 0205 00000000
// expect 3 0302 0005 00000a17
#define OWN_TYPES
#define OWN_PARSER
#include "include/v1.p4"

type bit<9> port_id_t;
type bit<8> small_t;
@p4runtime_translation("", 32)
type bit<16> wide_t;

struct headers_t {
    data_h data;
}

struct pair_t {
    small_t one;
    wide_t  two;
}

struct metadata_t {
    small_t x;
    wide_t  y;
    pair_t  pair;
}

const small_t TEN = 10;

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        meta.y = 5;
        transition select(hdr.data.c, hdr.data.a) {
            (7, 1): seven;
            (0x100 &&& 0xff00, 2 .. 4): other;
            default: accept;
        }
    }
    state seven {
        meta.y = 9;
        transition accept;
    }
    state other {
        meta.y = 255;
        transition accept;
    }
}

small_t choose(in bool first) {
    if (first) {
        return 12;
    }
    return TEN;
}

wide_t same(in wide_t x) {
    return x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    small_t answer = 1;
    port_id_t port = 3;

    action say(small_t value) {
        answer = value;
    }

    table told {
        key = { meta.x: exact; meta.y: ternary; }
        actions = { say; NoAction; }
        default_action = say(0x12);
        const entries = {
            (1, 9): say(11);
            (3, 0xf0 &&& 0xf0): say(17);
        }
    }

    table learned {
        key = { meta.pair.one: exact; }
        actions = { say; NoAction; }
        default_action = NoAction;
    }

    apply {
        meta.x = (small_t) hdr.data.a;
        told.apply();
        if (meta.x == (small_t) 1) {
            port = 1;
        } else if (meta.y == same(255)) {
            port = 2;
        }
        meta.pair = { 21, 1 };
        meta.pair.two = meta.x == TEN ? 4 : meta.pair.two;
        learned.apply();
        pair_t other = { one = 20, ... };
        other.two = port == (port_id_t) 3 ? other.two : 2;
        hdr.data.a = (bit<8>) answer;
        hdr.data.c = (bit<16>) meta.y;
        hdr.data.d = 16w0 ++ (bit<8>) choose(meta.x == (small_t) 1) ++ ((bit<8>) other.one + ((bit<9>) port)[7:0]);
        sm.egress_spec = (bit<9>) port;
    }
}

#include "include/pipe.p4"
