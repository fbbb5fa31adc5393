// One table of each kind that BF Runtime speaks of.
#include <core.p4>
#include <tna.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    ethernet_t eth;
}

struct metadata_t {
    bit<9> port;
    bit<16> kind;
    bit<16> mixed;
}

struct seen_t {
    bit<48> src;
    bit<9> port;
}

struct pair_t {
    bit<32> high;
    bit<32> low;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    value_set<bit<16>>(4) kinds;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.eth);
        meta.port = intr.ingress_port;
        meta.kind = 0;
        transition select(hdr.eth.kind) {
            kinds: special;
            default: accept;
        }
    }
    state special {
        meta.kind = hdr.eth.kind;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) hits;
    DirectMeter(MeterType_t.BYTES) rates;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) ports;
    Meter<bit<9>>(512, MeterType_t.PACKETS) shares;
    Register<pair_t, bit<8>>(256) pairs;
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) count = {
        void apply(inout pair_t value, out bit<32> before) {
            before = value.low;
            value.low = value.low + 1;
        }
    };
    ActionProfile(64) actions;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(128) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 16) groups;
    SelectorAction(groups) leave = {
        void apply(inout bit<1> value) {
            value = 0;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;

    action send(PortId_t port) {
        tm.ucast_egress_port = port;
        hits.count();
    }
    action drop() {
        dprsr.drop_ctl = 1;
        hits.count();
    }
    table forward {
        key = { hdr.eth.dst : exact; }
        actions = { send; drop; @defaultonly NoAction; }
        default_action = NoAction();
        counters = hits;
        size = 1024;
        idle_timeout = true;
    }

    action mark(bit<16> kind) {
        hdr.eth.kind = kind;
        meta.kind = (bit<16>) rates.execute();
    }
    table filter {
        key = { hdr.eth.src : ternary; meta.port : range; meta.kind : exact; }
        actions = { mark; NoAction; }
        default_action = NoAction();
        meters = rates;
        size = 64;
    }

    action set_kind(bit<16> kind) {
        hdr.eth.kind = kind;
    }
    table route {
        key = { hdr.eth.src : lpm; }
        actions = { set_kind; NoAction; }
        const default_action = NoAction();
        size = 64;
    }
    table by_member {
        key = { hdr.eth.kind : exact; }
        actions = { set_kind; NoAction; }
        implementation = actions;
        size = 64;
    }
    table by_group {
        key = { hdr.eth.kind : exact; hdr.eth.src : selector; }
        actions = { set_kind; NoAction; }
        implementation = groups;
        size = 64;
    }
    table fixed {
        key = { hdr.eth.kind : exact; }
        actions = { set_kind; NoAction; }
        const entries = {
            0x0801 : set_kind(0x0802);
        }
        default_action = NoAction();
    }

    apply {
        meta.mixed = mix.get({ hdr.eth.src });
        filter.apply();
        route.apply();
        by_member.apply();
        by_group.apply();
        fixed.apply();
        forward.apply();
        ports.count(intr.ingress_port);
        meta.kind = (bit<16>) shares.execute(intr.ingress_port);
        if (hdr.eth.kind == 0x0900) {
            count.execute(1);
            dprsr.digest_type = 1;
        }
        if (hdr.eth.kind == 0x0a00) {
            leave.execute(24w0 ++ hdr.eth.src[7:0]);
        }
        tm.bypass_egress = 1;
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<seen_t>() seen;
    apply {
        if (dprsr.digest_type == 1) {
            seen.pack({ hdr.eth.src, meta.port });
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.eth);
        meta.port = 0;
        meta.kind = 0;
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {}
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
