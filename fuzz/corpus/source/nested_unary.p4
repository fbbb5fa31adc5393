#line 6 "<p4cc>/core.p4"
error {
    NoError,
    PacketTooShort,
    NoMatch,
    StackOutOfBounds,
    HeaderTooShort,
    ParserTimeout,
    ParserInvalidArgument
}

match_kind {
    exact,
    ternary,
    lpm
}


extern packet_in {

    void extract<T>(out T hdr);

    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);

    T lookahead<T>();

    void advance(in bit<32> sizeInBits);

    bit<32> length();
}


extern packet_out {

    void emit<T>(in T hdr);
}


extern void verify(in bool check, in error toSignal);

@noWarn("unused")
action NoAction() {}


extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);
#line 4 "engine/filetests/cases/check/keyset_calls.p4"
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
            seven(): rejeuctSums;
---------------------------------------------------------------------------------------------------------------------------            8 &&& next(n): accept;
            1 .. next(n) + 1: accept;
            n + 1: accept;
            default: accept;
        }
    }
}
