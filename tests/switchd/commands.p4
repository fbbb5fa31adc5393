// One object of every kind that a command of simple_switch_CLI names.

#include <core.p4>
#include <v1model.p4>

typedef bit<9> port_t;

header data_h {
    bit<48> mac;
    bit<32> address;
    bit<128> wide;
    bit<16> low;
    bit<16> tag;
    bit<8> kind;
}

struct headers_t {
    data_h data;
}

struct meta_t {
    bit<2> color;
    bit<32> cell;
    bit<16> hash;
}

parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    value_set<bit<16>>(4) tags;

    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.tag) {
            tags: accept;
            default: accept;
        }
    }
}

control verify_nothing(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action_selector(HashAlgorithm.crc16, 64, 16) ecmp;
    action_profile(16) shared;
    direct_counter(CounterType.packets_and_bytes) acl_hits;
    direct_meter<bit<2>>(MeterType.bytes) limits;
    counter(8, CounterType.packets_and_bytes) totals;
    register<bit<32>>(16) cells;
    meter(4, MeterType.bytes) rates;

    action forward(port_t port) {
        standard_metadata.egress_spec = port;
    }

    action rewrite(bit<48> mac, bit<32> address) {
        hdr.data.mac = mac;
        hdr.data.address = address;
    }

    action discard() {
        mark_to_drop(standard_metadata);
    }

    action count_and_discard() {
        acl_hits.count();
        mark_to_drop(standard_metadata);
    }

    action limit() {
        limits.read(meta.color);
    }

    table exact_match {
        key = {
            hdr.data.address: exact;
            hdr.data.kind: exact @name("kind");
        }
        actions = {
            forward;
            rewrite;
            discard;
            NoAction;
        }
        default_action = NoAction();
        size = 4;
        support_timeout = true;
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

    table neighbours {
        key = {
            hdr.data.wide: lpm;
        }
        actions = {
            forward;
            rewrite;
        }
        implementation = shared;
        size = 64;
    }

    table acl {
        key = {
            hdr.data.address: ternary;
            hdr.data.low: range;
            hdr.data.tag: ternary;
            hdr.data.isValid(): ternary;
        }
        actions = {
            count_and_discard;
            NoAction;
        }
        counters = acl_hits;
        default_action = NoAction();
        size = 64;
    }

    table police {
        key = {
            hdr.data.mac: exact;
        }
        actions = {
            limit;
        }
        meters = limits;
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
        neighbours.apply();
        acl.apply();
        police.apply();
        fixed.apply();
        keyless.apply();
        totals.count((bit<32>)hdr.data.kind);
        cells.read(meta.cell, 0);
        cells.write(0, meta.cell + 1);
        rates.execute_meter<bit<2>>(0, meta.color);
        hash(meta.hash, HashAlgorithm.crc16_custom, (bit<16>)0, {hdr.data.address}, (bit<16>)1024);
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
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
