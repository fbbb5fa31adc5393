// What the tests of BF Runtime write and read: a table of each kind, a selector, a register, a digest.
#include <core.p4>
#include <tna.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    ethernet_t ethernet;
}

struct heard_t {
    bit<48> src;
    PortId_t port;
}

struct metadata_t {
    heard_t heard;
    bit<16> hash;
}

struct pair_t {
    bit<32> first;
    bit<32> second;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        meta.heard.src = hdr.ethernet.src;
        meta.heard.port = intr.ingress_port;
        meta.hash = 0;
        transition accept;
    }
}

control I(
    inout headers_t hdr,
    inout metadata_t meta,
    in ingress_intrinsic_metadata_t intr,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t dprsr,
    inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) met;
    Register<pair_t, bit<8>>(4, { 5, 7 }) sums;
    RegisterAction<pair_t, bit<8>, bit<32>>(sums) count = {
        void apply(inout pair_t sum, out bit<32> result) {
            sum.first = sum.first + 1;
            sum.second = sum.second + 100;
            result = sum.first;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(64) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 16, 4) chosen;

    action send(PortId_t port) {
        met.count();
        tm.ucast_egress_port = port;
    }
    action drop() {
        met.count();
        dprsr.drop_ctl = 1;
    }
    table forward {
        key = {
            hdr.ethernet.dst : ternary;
            hdr.ethernet.kind : range;
        }
        actions = { send; drop; }
        counters = met;
        const default_action = drop;
        size = 64;
    }

    action spread(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    table balance {
        key = {
            hdr.ethernet.kind : exact;
            hdr.ethernet.src : selector;
        }
        actions = { spread; @defaultonly NoAction; }
        const default_action = NoAction;
        implementation = chosen;
        size = 64;
    }

    action learn() {
        dprsr.digest_type = 1;
    }
    table known {
        key = { hdr.ethernet.src : exact; }
        actions = { NoAction; learn; }
        default_action = learn;
        size = 64;
    }

    apply {
        count.execute(1);
        forward.apply();
        balance.apply();
        known.apply();
    }
}

control ID(
    packet_out pkt,
    inout headers_t hdr,
    in metadata_t meta,
    in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<heard_t>() heard;
    apply {
        if (dprsr.digest_type == 1) {
            heard.pack(meta.heard);
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(
    inout headers_t hdr,
    inout metadata_t meta,
    in egress_intrinsic_metadata_t intr,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t dprsr,
    inout egress_intrinsic_metadata_for_output_port_t out_port) {
    apply {
    }
}

control ED(
    packet_out pkt,
    inout headers_t hdr,
    in metadata_t meta,
    in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
