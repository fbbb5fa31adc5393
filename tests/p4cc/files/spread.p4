// Takes TCP alone, and spreads connections over next hops by a hash of addresses and ports.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header tcp_t {
    bit<16> src; bit<16> dst; bit<32> seq; bit<32> ack; bit<4> offset; bit<3> reserved; bit<9> flags;
    bit<16> window; bit<16> checksum; bit<16> urgent;
}

struct headers_t { ethernet_t ethernet; ipv4_t ipv4; tcp_t tcp; }
struct metadata_t { bit<16> hop; }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition ipv4; }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) { 6: tcp; default: accept; }
    }
    state tcp { packet.extract(hdr.tcp); transition accept; }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action spread(bit<16> first, bit<32> count) {
        hash(meta.hop, HashAlgorithm.crc16, first,
            { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.tcp.src, hdr.tcp.dst }, count);
    }
    action forward(bit<48> mac, bit<9> port) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table groups {
        key = { hdr.ipv4.dst: lpm; }
        actions = { spread; drop; }
        default_action = drop();
    }
    table hops {
        key = { meta.hop: exact; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.tcp.isValid()) {
            if (groups.apply().hit) { hops.apply(); }
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }

control update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(true,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(parse(), verify_nothing(), ingress(), egress(), update(), deparse()) main;
