// The mistakes of silent_mistakes.p4, each known and meant: no warning is given.
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
    @noWarn("missing")
    state tagged {
        packet.extract(hdr.tag);
        transition accept;
    }
    @noWarn("parser-transition")
    state waits {
        transition select(hdr.ethernet.src) {
            0: again;
            default: accept;
        }
    }
    state again {
        transition waits;
    }
    @noWarn("parser-transition")
    state ends {
        packet.extract(hdr.mark);
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

@noWarn("invalid-header")
@noWarn("unsupported")
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
        if (hdr.never.value == 1) {
            forward.apply();
            meta.x = 1;
        } else {
            forward.apply();
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
