// T2NA: advanced flow control. A deparser pauses and resumes queues, each by the pipe, the group of eight ports,
// the queue within the group (sixteen a port) and a credit.
// Ingress pauses queue 2 of port 1, and its own packet leaves by port 3.
// packet 0 01 03 00 80090001
// expect 3 01 03 00 80090001
// What goes to that queue waits; other queues of the port do not.
// packet 0 00 01 02 00000000
// expect nothing
// packet 0 00 01 03 00000000
// expect 1 00 01 03 00000000
// The bit that makes it a message is missing.
// packet 0 01 03 00 00090000
// expect 3 01 03 00 00090000
// Resumed, by a packet that ingress drops.
// packet 0 81 03 00 80090000
// expect 1 00 01 02 00000000
// From egress, as the packet leaves: it pauses the queue that it came from.
// packet 0 02 01 02 80090001
// expect 1 02 01 02 80090001
// packet 0 00 01 02 00000001
// expect nothing
// packet 0 02 03 00 80090000
// expect 1 00 01 02 00000001
// expect 3 02 03 00 80090000
// A queue of no port of the switch is nobody's.
// packet 0 01 03 00 e0090001
// expect 3 01 03 00 e0090001
#include <core.p4>
#include <t2na.p4>

header ask_t {
    bit<8> kind;
    bit<8> port;
    bit<8> queue;
    bit<32> message;
}

struct headers_t {
    ask_t ask;
}

struct metadata_t { }

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ask);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = (PortId_t) hdr.ask.port;
        tm.qid = (QueueId_t) hdr.ask.queue;
        if (hdr.ask.kind[0:0] == 1) {
            dprsr.adv_flow_ctl = hdr.ask.message;
        }
        if (hdr.ask.kind[7:7] == 1) {
            dprsr.drop_ctl = 1;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.ask);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.ask.kind == 2) {
            dprsr.adv_flow_ctl = hdr.ask.message;
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
