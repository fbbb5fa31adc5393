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

struct metadata_t { }

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
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
    state idle { //~ ERROR has no parser loops that take no bits of the packet (rule `parser-loop`)
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
        resubmit.emit<wide_t>({ 0 }); //~ ERROR brings 64 bits with a resubmission (rule `header-size`)
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
