// Parsers: states, selects, what is allowed where.
#include "../run/include/v1.p4"

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        packet.extract(hdr.nothing); //~ ERROR has no member `nothing`
        transition select(hdr.data.a) {
            1: nxt; //~ ERROR state `nxt` is not declared
            300: next; //~ WARN 300 does not fit in `bit<8>`
            (1, 2): next; //~ ERROR the keyset has 2 parts
            5 .. 2: next; //~ ERROR the range 5 .. 2 is empty
            hdr.data.b: next;
            default: accept;
            7: next; //~ WARN this case is unreachable
        }
    }
    state next {
        transition accept;
    }
    state next { //~ ERROR state `next` is declared twice
    //~^ WARN state `next` is unreachable
        transition reject;
    }
    state lost { //~ WARN state `lost` is unreachable
        transition accept;
    }
}

parser Q(packet_in packet) { //~ ERROR parser `Q` has no state `start`
    state begin {
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.data.setValid();
        if (P.apply()) { } //~ ERROR a parser can be applied only in a parser state
    }
}
