// What is valid P4 and hardly what was meant; each is silenced in silenced_mistakes.p4.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header tag_t { bit<16> value; bit<16> type; }
header mark_t { bit<8> value; }

struct headers_t {
    ethernet_t ethernet;
    tag_t tag;
    tag_t taken;
    mark_t mark;
    mark_t never;
}

struct meta_t { bit<8> x; }

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            1: tagged;
            2: waits;
            3: ends;
            default: accept;
        }
    }
    state tagged {
        packet.extract(hdr.tag);  //~ WARN header `tag` is extracted but never emitted by a deparser
        transition accept;
    }
    state waits {  //~ WARN this loop extracts no bits and changes nothing
        transition select(hdr.ethernet.src) {
            0: again;
            default: accept;
        }
    }
    state again {
        transition waits;
    }
    state ends {  //~ WARN state `ends` has no `transition`, so it goes to `reject`
        packet.extract(hdr.mark);
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action send(bit<9> port) { standard.egress_spec = port; }
    table forward {
        key = { hdr.ethernet.dst : exact; }
        actions = { send; }
    }
    table same_behind {
        key = { hdr.ethernet.dst : exact; }
        actions = { send; }
    }
    apply {
        if (hdr.never.value == 1) {  //~ WARN a field of header `never` is read, but the header is never made valid
            forward.apply();
            meta.x = 1;
        } else {
            forward.apply();  //~ WARN table `forward` is applied at two places followed by different statements
        }
        if (meta.x == 1) {
            same_behind.apply();
        } else {
            same_behind.apply();
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.mark);
    }
}

V1Switch(P(), V(), I(), E(), V(), D()) main;
