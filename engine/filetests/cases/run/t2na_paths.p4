// T2NA: what differs from TNA. Port metadata have 192 bits, mirror headers choose between the packet that came
// in and the one that leaves, ingress starts the packet generator, and a ghost thread hears of queues' depths.
// session 7 3
// chip metadata 0 000102030405060708090a0b0c0d0e0f1011121314151617
// Unicast: the last byte of the port metadata, and the length that egress sees, check sequence included.
// packet 0 01 00 0000
// expect 1 01 17 0008
// Mirrored at ingress: as it came in, and as it leaves.
// packet 0 05 99 0000
// expect 1 05 17 0008
// expect 3 c1 05 99 0000
// packet 0 06 99 0000
// expect 1 06 17 0008
// expect 3 c1 06 17 0000
// Mirrored at egress: as it came to egress, and as it leaves.
// packet 0 07 00 0000
// expect 1 07 17 0008
// expect 3 e1 07 17 0000
// packet 0 08 00 0000
// expect 1 08 17 0008
// expect 3 e1 08 17 0008
// The ghost thread wrote the depth of queue 1 of port 1, in cells, as the packet went in and out.
// expect_register G.depths 17 0
// expect_counter G.told 17 10
// expect_counter G.told 48 8
// Two packets wait for port 1: after the second went in there are two cells.
// chip node 1 10 1 1
// chip group 5 1
// packet 0 09 00 0000 00000000000000000000000000000000
// expect 1 09 17 0018 00000000000000000000000000000000
// expect 1 09 17 0018 00000000000000000000000000000000
// expect_register G.deepest 0 2
// Ingress starts the packet generator of pipe 0, which sends on port 6 of the pipe.
// chip generates 6
// chip buffer 0 0 aabb
// chip app 0 9 0 2 asked f0f1
// packet 0 0a f0 f100
// expect 1 0a 17 0008
// expect 2 09 00 0000 0000 f0f10000000000000000000000000000 aabb
#include <core.p4>
#include <t2na.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
}

header note_t {
    bit<8> kind;
}

header again_t {
    bit<184> pad;
    bit<8> last;
}

header context_t {
    bit<16> value;
    bit<112> pad;
}

struct headers_t {
    note_t note;
    data_t data;
}

struct metadata_t {
    again_t port;
    MirrorId_t session;
    bit<16> context;
}

struct depth_t {
    bit<32> depth;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(meta.port);
        transition select(intr.ingress_port) {
            6: accept;
            default: data;
        }
    }
    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        tm.qid = 1;
        if (intr.ingress_port == 6) {
            tm.ucast_egress_port = 2;
        } else if (hdr.data.a == 5 || hdr.data.a == 6) {
            dprsr.mirror_type = 9;
            dprsr.mirror_io_select = hdr.data.a == 5 ? 1w0 : 1w1;
            meta.session = 7;
        } else if (hdr.data.a == 9) {
            invalidate(tm.ucast_egress_port);
            tm.mcast_grp_a = 5;
        } else if (hdr.data.a == 10) {
            dprsr.pktgen = 1;
            meta.context = hdr.data.b ++ hdr.data.c[15:8];
        }
        if (hdr.data.isValid()) {
            hdr.data.b = meta.port.last;
            hdr.data.c = 0;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(9) mirror;
    Pktgen() generator;
    apply {
        mirror.emit<note_t>(meta.session, { 0xc1 });
        if (dprsr.pktgen == 1) {
            generator.emit<context_t>({ meta.context, 0 });
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition select(intr.egress_port) {
            1: data;
            default: accept;
        }
    }
    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.data.isValid()) {
            hdr.data.c = intr.pkt_length;
            if (hdr.data.a == 7 || hdr.data.a == 8) {
                dprsr.mirror_type = 3;
                dprsr.mirror_io_select = hdr.data.a == 7 ? 1w0 : 1w1;
            }
        }
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(3) mirror;
    apply {
        mirror.emit<note_t>(7, { 0xe1 });
        pkt.emit(hdr);
    }
}

control G(in ghost_intrinsic_metadata_t told_md) {
    Register<bit<32>, bit<11>>(2048) depths;
    Register<bit<32>, bit<1>>(1) deepest;
    Counter<bit<32>, bit<11>>(2048, CounterType_t.PACKETS) told;
    RegisterAction<bit<32>, bit<11>, bit<32>>(depths) keep = {
        void apply(inout bit<32> value) {
            value = (bit<32>) told_md.qlength;
        }
    };
    RegisterAction<bit<32>, bit<1>, bit<32>>(deepest) greatest = {
        void apply(inout bit<32> value) {
            value = max(value, (bit<32>) told_md.qlength);
        }
    };
    apply {
        keep.execute(told_md.qid);
        greatest.execute(0);
        told.count(told_md.qid);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED(), G()) pipe;
Switch(pipe) main;
