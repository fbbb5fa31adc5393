// Routes IPv6 alone, and marks CE where a packet found twenty or more in its queue.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv6_t {
    bit<4> version; bit<6> dscp; bit<2> ecn; bit<20> label; bit<16> length; bit<8> next; bit<8> hop_limit;
    bit<128> src_addr; bit<128> dst_addr;
}

struct headers_t { ethernet_t ethernet; ipv6_t ipv6; }
struct metadata_t { }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { 0x86dd: ipv6; default: accept; }
    }
    state ipv6 { packet.extract(hdr.ipv6); transition accept; }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action forward(bit<48> mac, bit<9> port) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = mac;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }
    table routes {
        key = { hdr.ipv6.dst_addr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply {
        if (hdr.ipv6.isValid()) { routes.apply(); } else { drop(); }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.enq_qdepth >= 20 && hdr.ipv6.ecn != 0) { hdr.ipv6.ecn = 3; }
    }
}

control update_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(parse(), verify_nothing(), ingress(), egress(), update_nothing(), deparse()) main;
