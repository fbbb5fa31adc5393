// How much of the queue was a packet's own flow? Round-robin snapshots of what left the queue, after ConQuest
// (CoNEXT 2019, 3), for Tofino 1 and the port that `tb_gatekeeper` names.
//
// Time is cut into windows of 16,384 ns. Each of four snapshots, a count-min sketch of two rows, takes turns:
// it counts the bytes of one window, is read during the next two, and is cleaned during the fourth. A packet
// that waited for one or two whole windows adds what its flow sent in them to what it sent in this one.
#include <core.p4>
#include <tna.p4>

const int WINDOW_LOG2 = 14;
const bit<16> ETHERTYPE_IPV4 = 0x0800;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

// TCP and UDP begin with these.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ports_t ports;
}

// Metadata of the pipes: none.
struct nothing_t { }

// What egress knows of a packet.
struct metadata_t {
    bit<2> window;
    bit<4> waited_windows;
    bit<18> waited_ns;
    bit<7> column0;
    bit<7> column1;
    bit<7> cleaned;
    bit<8> chance;
}

parser Layers(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol, hdr.ipv4.ihl) {
            (6, 5): ports;
            (17, 5): ports;
            default: accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

parser IngressParser(packet_in packet, out headers_t hdr, out nothing_t none,
                     out ingress_intrinsic_metadata_t intr) {
    Layers() layers;
    state start {
        packet.extract(intr);
        packet.advance(PORT_METADATA_SIZE);
        layers.apply(packet, hdr);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout nothing_t none, in ingress_intrinsic_metadata_t intr,
                in ingress_intrinsic_metadata_from_parser_t parsed,
                inout ingress_intrinsic_metadata_for_deparser_t deparser_md,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    action route_to_port(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    action drop() {
        deparser_md.drop_ctl = 1;
    }
    table tb_route_ipv4 {
        key = { hdr.ipv4.dst: exact; }
        actions = { route_to_port; drop; }
        default_action = drop();
        size = 1024;
    }
    apply {
        tb_route_ipv4.apply();
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in nothing_t none,
                        in ingress_intrinsic_metadata_for_deparser_t deparser_md) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out nothing_t none,
                    out egress_intrinsic_metadata_t intr) {
    Layers() layers;
    state start {
        packet.extract(intr);
        layers.apply(packet, hdr);
        transition accept;
    }
}

// One snapshot; `number` is its turn. `seen` is what it holds of the flow, if it is this packet's to look at.
control Snapshot(in headers_t hdr, in metadata_t meta, out bit<32> seen)(bit<2> number) {
    bit<2> age;
    bit<7> at0;
    bit<7> at1;
    bit<32> bytes0;
    bit<32> bytes1;
    Register<bit<32>, bit<7>>(128, 0) row0;
    Register<bit<32>, bit<7>>(128, 0) row1;
    RegisterAction<bit<32>, bit<7>, bit<32>>(row0) count0 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = cell + (bit<32>)hdr.ipv4.total_length;
            result = cell;
        }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(row1) count1 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = cell + (bit<32>)hdr.ipv4.total_length;
            result = cell;
        }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(row0) read0 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            result = cell;
        }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(row1) read1 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            result = cell;
        }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(row0) clean0 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = 0;
            result = 0;
        }
    };
    RegisterAction<bit<32>, bit<7>, bit<32>>(row1) clean1 = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = 0;
            result = 0;
        }
    };
    action count_in_row0() { bytes0 = count0.execute(at0); }
    action count_in_row1() { bytes1 = count1.execute(at1); }
    action read_row0() { bytes0 = read0.execute(at0); }
    action read_row1() { bytes1 = read1.execute(at1); }
    action clean_row0() { bytes0 = clean0.execute(at0); }
    action clean_row1() { bytes1 = clean1.execute(at1); }
    table turn0 {
        key = {
            age: exact;
            meta.waited_windows: range;
        }
        actions = { count_in_row0; read_row0; clean_row0; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0, 0..15): count_in_row0();
            (1, 1..15): read_row0();
            (2, 2..15): read_row0();
            (3, 0..15): clean_row0();
        }
        size = 4;
    }
    table turn1 {
        key = {
            age: exact;
            meta.waited_windows: range;
        }
        actions = { count_in_row1; read_row1; clean_row1; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0, 0..15): count_in_row1();
            (1, 1..15): read_row1();
            (2, 2..15): read_row1();
            (3, 0..15): clean_row1();
        }
        size = 4;
    }
    apply {
        bytes0 = 0;
        bytes1 = 0;
        age = meta.window - number;
        if (age == 3) {
            at0 = meta.cleaned;
            at1 = meta.cleaned;
        } else {
            at0 = meta.column0;
            at1 = meta.column1;
        }
        turn0.apply();
        turn1.apply();
        seen = min(bytes0, bytes1);
    }
}

control Egress(inout headers_t hdr, inout nothing_t none, in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t parsed,
               inout egress_intrinsic_metadata_for_deparser_t deparser_md,
               inout egress_intrinsic_metadata_for_output_port_t out_port) {
    Hash<bit<7>>(HashAlgorithm_t.CRC32) hash0;
    Hash<bit<7>>(HashAlgorithm_t.CRC16) hash1;
    Random<bit<8>>() dice;
    Register<bit<32>, bit<1>>(1, 0) sweep;
    RegisterAction<bit<32>, bit<1>, bit<32>>(sweep) next_column = {
        void apply(inout bit<32> cell, out bit<32> result) {
            result = cell;
            cell = cell + 1;
        }
    };
    Snapshot(0) snapshot0;
    Snapshot(1) snapshot1;
    Snapshot(2) snapshot2;
    Snapshot(3) snapshot3;
    metadata_t meta;
    bit<32> seen0;
    bit<32> seen1;
    bit<32> seen2;
    bit<32> seen3;
    bit<32> own_bytes = 0;
    bit<16> own_kib = 0;

    action run_conquest() { }
    action skip() {
        exit;
    }
    table tb_gatekeeper {
        key = { intr.egress_port: exact; }
        actions = { run_conquest; skip; }
        default_action = skip();
        size = 1;
    }
    action drop() {
        deparser_md.drop_ctl = 1;
    }
    action mark_ECN() {
        hdr.ipv4.ecn = 3;
    }
    // What to do with a packet, by the KiB of its flow in the queue, its wait in ns, and chance.
    table tb_per_flow_action {
        key = {
            own_kib: range;
            meta.waited_ns: range;
            meta.chance: range;
            hdr.ipv4.ecn: exact;
        }
        actions = { NoAction; drop; mark_ECN; }
        default_action = NoAction();
        size = 64;
    }
    action look_at_time() {
        meta.waited_ns = intr.deq_timedelta;
        meta.waited_windows = (bit<4>)(intr.deq_timedelta >> WINDOW_LOG2);
        meta.window = parsed.global_tstamp[WINDOW_LOG2 + 1:WINDOW_LOG2];
        meta.chance = dice.get();
    }
    action look_at_flow() {
        meta.column0 = hash0.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ports.src, hdr.ports.dst });
        meta.column1 = hash1.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ports.src, hdr.ports.dst });
        meta.cleaned = (bit<7>)next_column.execute(0);
    }
    apply {
        tb_gatekeeper.apply();
        look_at_time();
        look_at_flow();
        snapshot0.apply(hdr, meta, seen0);
        snapshot1.apply(hdr, meta, seen1);
        snapshot2.apply(hdr, meta, seen2);
        snapshot3.apply(hdr, meta, seen3);
        seen0 = seen0 + seen1;
        seen2 = seen2 + seen3;
        own_bytes = seen0 + seen2;
        own_kib = own_bytes[25:10];
        tb_per_flow_action.apply();
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in nothing_t none,
                       in egress_intrinsic_metadata_for_deparser_t deparser_md) {
    Checksum() sum;
    apply {
        if (hdr.ipv4.isValid() && hdr.ports.isValid()) {
            hdr.ipv4.checksum = sum.update({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,
                hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst });
        }
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
