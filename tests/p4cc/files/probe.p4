// Routes IPv4, and lets probes read how busy ports are: a probe names the ports that it leaves by, one for
// each switch, and takes a record along from each.
#include <core.p4>
#include <v1model.p4>

const bit<16> IPV4 = 0x0800;
const bit<16> PROBE = 0x88b5;

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header probe_t { bit<8> records; bit<8> ways; }
header record_t { bit<8> switch_id; bit<8> port; bit<32> sent_bytes; bit<48> since; bit<48> now; }
header way_t { bit<7> unused; bit<9> port; }

struct headers_t { ethernet_t ethernet; ipv4_t ipv4; probe_t probe; record_t[8] records; way_t[8] ways; }
struct metadata_t { bit<8> left; }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { IPV4: ipv4; PROBE: probe; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
    state probe {
        packet.extract(hdr.probe);
        meta.left = hdr.probe.records;
        transition records;
    }
    state records { transition select(meta.left) { 0: begin_ways; default: record; } }
    state record {
        packet.extract(hdr.records.next);
        meta.left = meta.left - 1;
        transition records;
    }
    state begin_ways { meta.left = hdr.probe.ways; transition ways; }
    state ways { transition select(meta.left) { 0: accept; default: way; } }
    state way {
        packet.extract(hdr.ways.next);
        meta.left = meta.left - 1;
        transition ways;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action forward(bit<48> mac, bit<9> port) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.ipv4.isValid()) {
            routes.apply();
        } else if (hdr.ways[0].isValid()) {
            standard.egress_spec = hdr.ways[0].port;
            hdr.ways.pop_front(1);
            hdr.probe.ways = hdr.probe.ways - 1;
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(16) sent;
    register<bit<48>>(16) last;
    action set_id(bit<8> id) { hdr.records[0].switch_id = id; }
    table identity {
        actions = { set_id; NoAction; }
        default_action = NoAction();
    }
    apply {
        bit<32> bytes;
        sent.read(bytes, (bit<32>) standard.egress_port);
        bytes = bytes + standard.packet_length;
        if (hdr.probe.isValid()) {
            hdr.records.push_front(1);
            hdr.records[0].setValid();
            hdr.probe.records = hdr.probe.records + 1;
            identity.apply();
            hdr.records[0].port = (bit<8>) standard.egress_port;
            hdr.records[0].sent_bytes = bytes;
            last.read(hdr.records[0].since, (bit<32>) standard.egress_port);
            hdr.records[0].now = standard.egress_global_timestamp;
            last.write((bit<32>) standard.egress_port, standard.egress_global_timestamp);
            bytes = 0;
        }
        sent.write((bit<32>) standard.egress_port, bytes);
    }
}

control update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.probe);
        packet.emit(hdr.records);
        packet.emit(hdr.ways);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), update(), deparse()) main;
