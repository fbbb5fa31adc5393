// A byte chooses the port; what a test of the Simple Test
// Framework can touch: a table, a register, a counter, a clone.
#include <core.p4>
#include <v1model.p4>

header tag_h {
    bit<8> kind;
    bit<8> seen;
}

struct headers_t {
    tag_h tag;
}

struct meta_t {}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.tag);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(4) last;
    counter(4, CounterType.packets_and_bytes) kinds;

    action to(bit<9> port) {
        sm.egress_spec = port;
    }

    action copy(bit<32> session, bit<9> port) {
        clone(CloneType.I2E, session);
        sm.egress_spec = port;
    }

    action discard() {
        mark_to_drop(sm);
    }

    table forward {
        key = {
            hdr.tag.kind: exact;
        }
        actions = {
            to;
            copy;
            discard;
        }
        default_action = discard();
    }

    apply {
        forward.apply();
        log_msg("kind {}", { hdr.tag.kind });
        last.read(hdr.tag.seen, 1);
        last.write(1, hdr.tag.kind);
        kinds.count((bit<32>)hdr.tag.kind);
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {}
}

control C(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.tag);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
