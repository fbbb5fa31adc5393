// What labs with p4-utils use: learning by digests, multicast, copies for a controller, paths chosen by hash,
// counters, meters, registers, custom checks, idle entries.

#include <core.p4>
#include <v1model.p4>

const bit<32> TO_CONTROLLER = 100;

header ethernet_h {
    bit<48> destination;
    bit<48> source;
    bit<16> kind;
}

header ipv4_h {
    bit<32> first;
    bit<32> second;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
}

struct learn_t {
    bit<48> source;
    bit<9> port;
}

struct meta_t {
    learn_t learn;
    bit<2> color;
    bit<16> path;
    bit<32> first_hash;
    bit<32> second_hash;
}

parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            0x0800: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    counter(16, CounterType.packets_and_bytes) arrived;
    meter(16, MeterType.packets) allowed;
    register<bit<32>>(4) hashes;
    direct_counter(CounterType.packets_and_bytes) watched;
    action_selector(HashAlgorithm.crc16, 16, 14) paths;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action learn() {
        meta.learn.source = hdr.ethernet.source;
        meta.learn.port = standard_metadata.ingress_port;
        digest<learn_t>(1, meta.learn);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action copy() {
        watched.count();
        clone(CloneType.I2E, TO_CONTROLLER);
    }

    table known {
        key = { hdr.ethernet.source: exact; }
        actions = { learn; NoAction; }
        default_action = learn;
        support_timeout = true;
        size = 64;
    }

    table where {
        key = { hdr.ethernet.destination: exact; }
        actions = { forward; drop; NoAction; }
        default_action = NoAction;
        size = 64;
    }

    table everywhere {
        key = { standard_metadata.ingress_port: exact; }
        actions = { flood; NoAction; }
        default_action = NoAction;
        size = 64;
    }

    table watch {
        key = {
            hdr.ipv4.destination: ternary;
            hdr.ipv4.protocol: range;
        }
        actions = { copy; NoAction; }
        default_action = NoAction;
        counters = watched;
        size = 64;
    }

    table spread {
        key = {
            hdr.ipv4.destination: lpm;
            hdr.ipv4.source: selector;
        }
        actions = { forward; drop; }
        implementation = paths;
        size = 64;
    }

    apply {
        arrived.count((bit<32>)standard_metadata.ingress_port);
        allowed.execute_meter<bit<2>>((bit<32>)standard_metadata.ingress_port, meta.color);
        if (meta.color == 2) {
            drop();
        } else {
            known.apply();
            if (!where.apply().hit) {
                everywhere.apply();
            } else if (standard_metadata.egress_spec == standard_metadata.ingress_port) {
                // Flooded here by a switch that did not know yet:
                // sent back, the sender would be learned anew.
                drop();
            }
            if (hdr.ipv4.isValid()) {
                spread.apply();
                watch.apply();
                hash(meta.first_hash, HashAlgorithm.crc32_custom, 32w0, { hdr.ipv4.source }, 64w0x100000000);
                hash(meta.second_hash, HashAlgorithm.crc32_custom, 32w0, { hdr.ipv4.source }, 64w0x100000000);
                hashes.write(0, meta.first_hash);
                hashes.write(1, meta.second_hash);
                hashes.write(2, hdr.ipv4.source);
            }
        }
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
