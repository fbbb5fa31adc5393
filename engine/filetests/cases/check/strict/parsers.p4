// Tofino's rules for parsers and what is kept beside a packet.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
}

header wide_t {
    bit<72> a;
}

struct headers_t {
    data_t[4] data;
}

struct metadata_t {
    bit<8> sum;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        meta.sum = intr.ingress_port[7:0];
        meta.sum = intr.ingress_port[7:0] + 1; //~ ERROR does not support arithmetic and conditions in parser states (rule `parser-expression`)
        if (intr.ingress_port == 1) { //~ ERROR rule `parser-expression`
            meta.sum = 2;
        }
        transition stack;
    }
    // This loop ends with the packet.
    state stack {
        pkt.extract(hdr.data.next);
        transition select(hdr.data.last.a) {
            0: stack;
            1: idle;
            default: accept;
        }
    }
    state idle { //~ WARN this loop extracts no bits: Tofino's parser would never leave it (rule `parser-loop`)
        meta.sum = 2;
        transition select(hdr.data.last.a) {
            1: idle;
            default: accept;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    Resubmit() resubmit;
    apply {
        resubmit.emit<wide_t>({ 0 }); //~ ERROR carries at most 64 bits with a resubmitted packet (rule `header-size`)
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        meta.sum = 0;
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
        if (hdr.data[0].a == 1) {
            pkt.emit(hdr.data[0]); //~ ERROR emits headers regardless of conditions around `emit` (rule `conditional-emit`)
        }
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
