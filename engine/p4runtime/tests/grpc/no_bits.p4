// Messages and cells with members of no bits.

#include <core.p4>
#include <v1model.p4>

header data_h {
    bit<8> kind;
    bit<0> none;
    bit<16> length;
}

struct headers_t {
    data_h data;
}

struct meta_t {}

struct inner_t {
    bit<0> none;
}

struct seen_t {
    bit<8> kind;
    inner_t inner;
    bit<0> none;
    tuple<bit<0>, bit<16>> pair;
}

struct held_t {
    data_h data;
    bit<8> kind;
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
    register<seen_t>(2) last;
    register<held_t>(2) kept;

    apply {
        seen_t seen = { hdr.data.kind, { hdr.data.none }, hdr.data.none, { hdr.data.none, hdr.data.length } };
        digest<seen_t>(1, seen);
        last.write(1, seen);
        held_t held = { hdr.data, hdr.data.kind };
        digest<held_t>(1, held);
        kept.write(1, held);
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), verify_nothing(), deparse()) main;
