// States, selects, keysets, value sets.
#include <core.p4>
header H { bit<8> a; varbit<32> v; }
struct S { H[3] hs; H h; }
parser Sub(packet_in p, out H h) { state start { p.extract(h); transition accept; } }
parser P<T>(packet_in p, out S s, in T unused)(bit<8> limit) {
    const bit<8> one = 1;
    bit<8> count = 0;
    value_set<bit<8>>(4) plain;
    value_set<tuple<bit<8>, bit<8>>>(4) pairs;
    @name("sub") Sub() sub;
    @name(".start") state start {
        p.extract(s.hs.next);
        bit<8> ahead = p.lookahead<bit<8>>();
        count = count + 1;
        if (ahead == 1) { p.advance(8); }
        transition select(ahead, s.h.a) {
            (1, 2): next;
            (0x10 &&& 0xF0, _): next;
            (1 .. 5, default): next;
            pairs: next;
            _: reject;
        }
    }
    state next {
        sub.apply(p, s.h);
        Sub.apply(p, s.h);
        p.extract(s.h, (bit<32>) (count << 3));
        transition select(s.hs.last.a) {
            one: start;
            (2): start;
            (one) + 2: start;
            (bit<8>) 9: start;
            (3 &&& 7): start;
            (_): start;
            8w4 .. 8w5: start;
            plain: start;
            default: accept;
        }
    }
    state implicit { }
    state state { { count = 1; } transition start; }
}
