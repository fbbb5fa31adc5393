#include <core.p4>
#include <v1model.p4>

#define WIDTH 48
#define FIELD(h) hdr.h

typedef bit<WIDTH> mac_t;
const bit<16> TYPE_IPV4 = 0x800;

/** An Ethernet header. */
header ethernet_t {
    mac_t    dst;
    mac_t    src;  // who sent it
    bit<16>  kind;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  ttl;
}

header label_t {
    bit<8> value;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    label_t[3] labels;
}

enum bit<8> Color { RED = 1, BLUE = 2 }

struct meta_t {
    Color color;
}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply { } }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    register<bit<32>>(16) seen;
    // Sends a packet on.
    action forward(bit<9> port) {
        std.egress_spec = port;
        FIELD(ipv4).ttl = hdr.ipv4.ttl - 1;
    }
    action drop() { mark_to_drop(std); }
    table routes {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply {
        meta.color = Color.RED;
        bit<32> count;
        seen.read(count, 0);
        if (hdr.ipv4.isValid()) {
            routes.apply();
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
