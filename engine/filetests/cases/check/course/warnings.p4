// By the rules of a course warnings are errors; `@noWarn` silences them as before.
#include <core.p4>
#include <v1model.p4>

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
        packet.extract(hdr.tag);  //~ ERROR header `tag` is extracted but never emitted by a deparser
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        meta.x = 300;  //~ ERROR 300 does not fit in `bit<8>`
        @noWarn("mismatch") {
            meta.x = 301;
        }
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
