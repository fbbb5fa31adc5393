// Keysets hold values; nothing is called in them.
#include <core.p4>

header tag_h { bit<8> kind; }

bit<8> seven() { return 7; }
bit<8> next(inout bit<8> n) {
    n = n + 1;
    return n;
}

parser tags(packet_in pkt, out tag_h tag, inout bit<8> n) {
    state start {
        pkt.extract(tag);
        transition select(tag.kind) {
            seven(): reject;          //~ ERROR a keyset cannot contain a function call
            8 &&& next(n): accept;    //~ ERROR a keyset cannot contain a function call
            1 .. next(n) + 1: accept; //~ ERROR a keyset cannot contain a function call
            n + 1: accept;
            default: accept;
        }
    }
}
