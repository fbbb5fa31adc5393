// Errors of the parser: which, and what happened up to there. The packet goes on.
#define OWN_TYPES
#define OWN_PARSER
#include "../../../engine/filetests/cases/run/include/v1.p4"

header kind_h {
    bit<8> kind;
}

header part_h {
    bit<8> size;
    varbit<32> rest;
}

header seen_h {
    bit<8> error_code;
    bit<8> reached;
}

struct headers_t {
    seen_h seen;
    kind_h kind;
    kind_h[2] parts;
    part_h part;
}

struct metadata_t {
    bit<8> reached;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind) {
            1: next;
            2: last;
            3: verify_it;
            4: too_long;
            5: no_bytes;
            6: ahead;
            7: accept;
            8: reject;
            9: skip;
        }
    }
    state next {
        packet.extract(hdr.parts.next);
        packet.extract(hdr.parts.next);
        meta.reached = 1;
        packet.extract(hdr.parts.next);
        meta.reached = 2;
        transition accept;
    }
    state last {
        meta.reached = hdr.parts.last.kind;
        transition accept;
    }
    state verify_it {
        verify(false, error.HeaderTooShort);
        meta.reached = 3;
        transition accept;
    }
    state too_long {
        packet.extract(hdr.part, 40);
        meta.reached = 4;
        transition accept;
    }
    state no_bytes {
        packet.extract(hdr.part, 12);
        meta.reached = 5;
        transition accept;
    }
    state ahead {
        meta.reached = packet.lookahead<bit<64>>()[7:0];
        transition accept;
    }
    state skip {
        packet.advance(64);
        meta.reached = 6;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.seen.setValid();
        hdr.seen.reached = meta.reached;
        hdr.seen.error_code = 0xff;
        if (sm.parser_error == error.NoError) {
            hdr.seen.error_code = 0;
        } else if (sm.parser_error == error.PacketTooShort) {
            hdr.seen.error_code = 1;
        } else if (sm.parser_error == error.NoMatch) {
            hdr.seen.error_code = 2;
        } else if (sm.parser_error == error.StackOutOfBounds) {
            hdr.seen.error_code = 3;
        } else if (sm.parser_error == error.HeaderTooShort) {
            hdr.seen.error_code = 4;
        } else if (sm.parser_error == error.ParserInvalidArgument) {
            hdr.seen.error_code = 6;
        }
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
