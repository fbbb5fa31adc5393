// One object of every kind that a controller can see.

#include <core.p4>
#include <v1model.p4>

typedef bit<9> port_t;

@controller_header("packet_in")
header packet_in_h {
    port_t ingress_port;
    bit<7> pad;
}

@controller_header("packet_out")
header packet_out_h {
    port_t egress_port;
    bit<7> pad;
}

header data_h {
    bit<8> kind;
    bit<32> address;
    bit<16> low;
    bit<16> tag;
}

struct headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    data_h data;
}

struct meta_t {
    bit<2> color;
    bit<32> cell;
}

struct seen_t {
    bit<32> address;
    port_t port;
}

parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action_selector(HashAlgorithm.crc16, 64, 16) ecmp;
    direct_counter(CounterType.packets_and_bytes) acl_hits;
    counter(8, CounterType.packets_and_bytes) totals;
    register<bit<32>>(16) cells;
    meter(4, MeterType.bytes) rates;

    @brief("Sends the packet out of a port.")
    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    action discard() {
        mark_to_drop(standard_metadata);
    }

    action count_and_discard() {
        acl_hits.count();
        mark_to_drop(standard_metadata);
    }

    action report() {
        acl_hits.count();
        digest<seen_t>(1, { hdr.data.address, standard_metadata.ingress_port });
    }

    table exact_match {
        key = {
            hdr.data.address: exact;
            hdr.data.kind: exact @name("kind");
        }
        actions = {
            forward;
            @tableonly discard;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 4;
    }

    table routes {
        key = {
            hdr.data.address: lpm;
            hdr.data.tag: selector;
        }
        actions = {
            forward;
            discard;
        }
        implementation = ecmp;
        size = 64;
    }

    @id(0x1234)
    table acl {
        key = {
            hdr.data.address: ternary;
            hdr.data.low: range;
            hdr.data.tag: optional;
        }
        actions = {
            count_and_discard;
            report;
        }
        counters = acl_hits;
        size = 64;
    }

    table fixed {
        key = {
            hdr.data.kind: exact;
        }
        actions = {
            forward;
            discard;
        }
        const entries = {
            1: forward(7);
            2: discard();
        }
        const default_action = discard();
    }

    table keyless {
        actions = {
            forward;
            discard;
        }
        default_action = forward(3);
    }

    apply {
        exact_match.apply();
        routes.apply();
        acl.apply();
        fixed.apply();
        keyless.apply();
        totals.count((bit<32>)hdr.data.kind);
        cells.read(meta.cell, 0);
        cells.write(0, meta.cell + 1);
        rates.execute_meter<bit<2>>(0, meta.color);
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control compute(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
