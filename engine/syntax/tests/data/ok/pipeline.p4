// A whole v1model program.
#include <core.p4>
#include <v1model.p4>

#define TYPE_IPV4 0x800
const bit<16> ETHER_IPV4 = TYPE_IPV4;

typedef bit<48> mac_t;
typedef bit<32> ip_t;

header ethernet_t {
    mac_t dst;
    mac_t src;
    bit<16> kind;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> len;
    bit<16> id;
    bit<3> flags;
    bit<13> offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ip_t src;
    ip_t dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct meta_t {
    @field_list(1)
    bit<9> port;
}

parser Read(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.NoMatch);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(true, {hdr.ipv4.version, hdr.ipv4.ihl}, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) seen;
    register<bit<32>>(1024) depth;
    action drop() {
        mark_to_drop(std);
    }
    action forward(mac_t dst, bit<9> port) {
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = dst;
        std.egress_spec = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table route {
        key = {
            hdr.ipv4.dst: lpm @name("dst");
            hdr.ipv4.ecn: ternary;
        }
        actions = {
            forward;
            drop;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = 1024;
        counters = seen;
    }
    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            switch (route.apply().action_run) {
                forward: { depth.write(0, (bit<32>) std.enq_qdepth); }
                drop:
                default: { exit; }
            }
        }
    }
}

control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        if (std.enq_qdepth >= 65) hdr.ipv4.ecn = 3;
        else if (std.enq_qdepth >= 20 && hdr.ipv4.ecn != 0) { hdr.ipv4.ecn = 1; }
    }
}

control Compute(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), {hdr.ipv4.src, hdr.ipv4.dst}, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Write(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(Read(), Verify(), In(), Out(), Compute(), Write()) main;
