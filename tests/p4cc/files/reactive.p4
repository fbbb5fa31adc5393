// A router whose routes a controller sets one by one: what has no route goes to it, and comes back.
#include <core.p4>
#include <v1model.p4>

#define CPU_PORT 500

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> unused;
}

@controller_header("packet_out")
header packet_out_t {
    bit<8> attempts;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}

header ipv4_t {
    bit<8> version_ihl;
    bit<8> tos;
    bit<16> length;
    bit<16> id;
    bit<16> fragment;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct seen_t {
    bit<32> src;
    bit<9> port;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct metadata_t {
    seen_t seen;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            CPU_PORT: from_controller;
            default: ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(8) received;
    counter(8, CounterType.packets) routed;

    action forward(bit<48> mac, bit<9> port) {
        hdr.ethernet.dst = mac;
        std.egress_spec = port;
    }

    action to_controller() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        std.egress_spec = CPU_PORT;
    }

    table routes {
        key = { hdr.ipv4.dst: exact; }
        actions = { forward; to_controller; }
        default_action = to_controller();
        size = 64;
        support_timeout = true;
    }

    action known() { }

    action report() {
        meta.seen.src = hdr.ipv4.src;
        meta.seen.port = std.ingress_port;
        digest<seen_t>(1, meta.seen);
    }

    table sources {
        key = { hdr.ipv4.src: exact; }
        actions = { known; report; }
        default_action = report();
        size = 64;
    }

    apply {
        if (!hdr.packet_out.isValid()) {
            bit<32> count;
            received.read(count, (bit<32>) std.ingress_port);
            received.write((bit<32>) std.ingress_port, count + 1);
            sources.apply();
        }
        if (routes.apply().hit) {
            routed.count((bit<32>) std.egress_spec);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
