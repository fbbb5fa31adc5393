// TNA: the end of a parser. The chip knows an end, and packets that no row of the parser fits: `reject` is an end
// like `accept`, and only the latter are dropped, by ingress alone and whether or not a program reads `parser_err`.
// packet 0 01 00 000000000000
// expect 1 01 00 000000000000
// `reject`, by name and as the state that no case names.
// packet 0 02 00 0000
// expect 1 02 00 0000
// packet 0 03 00 0000
// expect 1 03 00 0000
// No case fits: dropped.
// packet 0 04 00 0000
// Too short for the second header: ingress reads the error, so the packet goes on without it.
// packet 0 05 00
// expect 1 e0 02 05 00
// Both in egress: it never drops.
// packet 0 06 00 000000000000
// expect 1 06 00 000000000000
// packet 0 07 00 000000000000
// expect 1 e1 01 07 00 000000000000
#include <core.p4>
#include <tna.p4>

header kind_t {
    bit<8> kind;
    bit<8> zero;
}

header note_t {
    bit<8> side;
    bit<8> error_bits;
}

header rest_t {
    bit<48> value;
}

struct headers_t {
    note_t note;
    kind_t data;
    rest_t rest;
}

struct metadata_t { }

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition select(hdr.data.kind) {
            2: reject;
            3: some;
            4: none;
            default: all;
        }
    }
    state some {
        transition select(hdr.data.zero) {
            1: all;
            default: reject;
        }
    }
    state none {
        transition select(hdr.data.zero) {
            1: all;
        }
    }
    state all {
        pkt.extract(hdr.rest);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t from_parser,
          inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
          inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    apply {
        for_tm.ucast_egress_port = 1;
        if (from_parser.parser_err != 0) {
            hdr.note.setValid();
            hdr.note.side = 0xe0;
            hdr.note.error_bits = from_parser.parser_err[7:0];
            for_tm.bypass_egress = 1;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.data);
        transition select(hdr.data.kind) {
            6: reject;
            7: none;
            default: accept;
        }
    }
    state none {
        transition select(hdr.data.zero) {
            1: accept;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t from_parser,
          inout egress_intrinsic_metadata_for_deparser_t for_deparser,
          inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {
        if (from_parser.parser_err != 0) {
            hdr.note.setValid();
            hdr.note.side = 0xe1;
            hdr.note.error_bits = from_parser.parser_err[7:0];
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
