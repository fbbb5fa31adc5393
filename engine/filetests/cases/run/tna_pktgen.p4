// TNA: port metadata, and the packet generator: by a timer, by a port that goes down, by a packet that goes
// round. The generator's header is told apart by its first byte.
// chip metadata 0 123456789abcdef0
// packet 0 f0 00 00 00 00 00
// expect 1 f0 12 34 56 00 f0
// chip generates 68
// chip generates 196
// chip buffer 0 32 aabb
// chip buffer 1 64 cc
// Timer: pipe 0, application 1.
// chip app 0 1 32 2 timer 1000
// time 999
// time 1000
// expect 2 01 00 00 00 00 00 aabb
// time 100000
// A port of pipe 0 goes down: application 2, with the port's number; port 3 is of that pipe.
// chip app 0 2 32 2 down
// chip down 3
// expect 2 02 00 00 03 00 00 aabb
// What goes round over port 196, of pipe 1: the key in the header, and the packet itself comes back.
// chip app 1 3 64 1 round f4010203
// packet 0 f4 01 02 03 00 00
// expect 1 f4 01 02 03 00 00
// expect 2 0b 01 02 03 00 00 cc
// Another port has no metadata.
// packet 1 f0 00 00 00 00 00
// expect 1 f0 00 00 00 00 00
#include "include/tna_pipe.p4"

header first_t {
    bit<8> kind;
}

header rest_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<16> d;
}

struct headers_t {
    first_t first;
    rest_t rest;
}

struct port_t {
    bit<8> high;
    bit<16> middle;
    bit<32> pad;
    bit<8> low;
}

struct metadata_t {
    port_t port;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        meta.port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.first);
        pkt.extract(hdr.rest);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        if (hdr.first.kind == 0xf0) {
            hdr.rest.a = meta.port.high;
            hdr.rest.b = meta.port.middle[15:8];
            hdr.rest.c = meta.port.middle[7:0];
            hdr.rest.d = (bit<16>) meta.port.low;
            tm.ucast_egress_port = 1;
        } else if (hdr.first.kind == 0xf4) {
            tm.ucast_egress_port = intr.ingress_port == 196 ? 9w1 : 9w196;
        } else {
            tm.ucast_egress_port = 2;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta) {
    apply {
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
