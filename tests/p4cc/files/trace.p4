// Routes IPv4. Packets of protocol 150 carry a trace behind IPv4: each switch adds a record of its queue.
#include <core.p4>
#include <v1model.p4>

const bit<8> TRACE = 150;

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header trace_t { bit<8> next; bit<8> records; bit<32> asked_by; }
header record_t { bit<8> switch_id; bit<24> depth; }
header text_t { bit<8> length; varbit<64> text; }
header odd_t { bit<7> x; }

struct headers_t { ethernet_t ethernet; ipv4_t ipv4; trace_t trace; record_t[8] records; text_t text; odd_t odd; }
struct metadata_t { bit<8> left; }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition ipv4; }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) { TRACE: trace; default: accept; }
    }
    state trace {
        packet.extract(hdr.trace);
        meta.left = hdr.trace.records;
        transition records;
    }
    state records { transition select(meta.left) { 0: accept; default: record; } }
    state record {
        packet.extract(hdr.records.next);
        meta.left = meta.left - 1;
        transition records;
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
    apply { routes.apply(); }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set_id(bit<8> id) { hdr.records[0].switch_id = id; }
    table identity {
        actions = { set_id; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.trace.isValid()) {
            hdr.records.push_front(1);
            hdr.records[0].setValid();
            identity.apply();
            hdr.records[0].depth = (bit<24>) standard.deq_qdepth;
            hdr.trace.records = hdr.trace.records + 1;
            hdr.ipv4.length = hdr.ipv4.length + 4;
        }
    }
}

control update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(true,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.trace);
        packet.emit(hdr.records);
        packet.emit(hdr.text);
        packet.emit(hdr.odd);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), update(), deparse()) main;
