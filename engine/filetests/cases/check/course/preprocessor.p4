// By the rules of a course the preprocessor's warnings are errors too.
#include <core.p4>
#include <v1model.p4>

#warning finish this exercise  //~ ERROR #warning finish this exercise

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header tag_t { bit<16> value; bit<16> type; }

struct headers_t {
    ethernet_t ethernet;
    tag_t tag;
}

struct meta_t { bit<8> x; }

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }

control C(inout headers_t hdr, inout meta_t meta) { apply {} }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
