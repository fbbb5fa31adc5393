// TNA: what becomes of a packet, and what the chip's metadata say of it.
// session 7 3
// session 8 4
// multicast 5 1 2
// add I.forward 0x01 => I.send(1)
// add I.forward 0x02 => I.drop()
// add I.forward 0x0a => I.send(68)
// A packet that ingress sends nowhere.
// packet 0 0b 00 0000
// expect nothing
// Unicast by an exact match; the length that egress sees has the two bytes of the bridge, and the frame's check
// sequence of four.
// packet 0 01 00 0000
// expect 1 01 00 000a
// Dropped, though it has a port.
// packet 0 02 00 0000
// expect nothing
// Multicast: the first replica is known.
// packet 0 03 00 0000
// expect 1 03 00 0011
// expect 2 03 00 0010
// Resubmitted once, with a header in place of the port metadata.
// packet 0 04 00 0000
// expect 1 04 5a 000a
// Mirrored at ingress: the packet as it came in, behind the mirror header.
// packet 0 05 99 0000
// expect 1 05 ff 000a
// expect 3 05 c1 0003
// A digest.
// packet 2 06 12 3456
// expect_digest ID.digest 2 0x3456
// Mirrored at egress: the packet as it left.
// packet 0 07 00 0000
// expect 1 07 00 000a
// expect 4 07 e2 0004
// Egress is left out.
// packet 0 08 00 0000
// expect 1 08 00 0000
// Recirculated once; the port says so.
// packet 0 0a 00 0000
// expect 1 0a 44 000a
// A packet that is too short for the parser is dropped.
// packet 0 01 00
// expect nothing
// expect_counter I.seen 0 11
// expect_counter I.seen 2 1
// expect_counter I.seen 68 1
#include "include/tna_pipe.p4"

header bridge_t {
    bit<8> kind;
    bit<8> value;
}

header again_t {
    bit<8> value;
    bit<56> pad;
}

struct headers_t {
    bridge_t bridge;
    data_t data;
}

struct note_t {
    PortId_t port;
    bit<16> value;
}

struct metadata_t {
    again_t again;
    bit<8> mirrored;
    MirrorId_t session;
    note_t note;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition select(intr.resubmit_flag) {
            1: resubmitted;
            default: first;
        }
    }
    state resubmitted {
        pkt.extract(meta.again);
        transition data;
    }
    state first {
        pkt.advance(PORT_METADATA_SIZE);
        transition data;
    }
    state data {
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counter<bit<32>, PortId_t>(512, CounterType_t.PACKETS) seen;
    action send(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    action drop() {
        tm.ucast_egress_port = 1;
        dprsr.drop_ctl = 1;
    }
    table forward {
        key = { hdr.data.a: exact; }
        actions = { send; drop; NoAction; }
        const default_action = NoAction;
    }
    apply {
        seen.count(intr.ingress_port);
        hdr.bridge.setValid();
        if (intr.ingress_port == 68) {
            hdr.data.b = 0x44;
            send(1);
        } else {
            forward.apply();
        }
        if (hdr.data.a == 3) {
            tm.mcast_grp_a = 5;
        } else if (hdr.data.a == 4) {
            if (intr.resubmit_flag == 0) {
                dprsr.resubmit_type = 2;
            } else {
                hdr.data.b = meta.again.value;
                send(1);
            }
        } else if (hdr.data.a == 5) {
            hdr.data.b = 0xff;
            dprsr.mirror_type = 1;
            meta.session = 7;
            meta.mirrored = 0xc1;
            send(1);
        } else if (hdr.data.a == 6) {
            dprsr.digest_type = 3;
            meta.note = { intr.ingress_port, hdr.data.c };
        } else if (hdr.data.a == 7) {
            send(1);
        } else if (hdr.data.a == 8) {
            hdr.bridge.setInvalid();
            tm.bypass_egress = 1;
            send(1);
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    Resubmit(2) resubmit;
    Digest<note_t>(3) digest;
    apply {
        if (dprsr.mirror_type == 1) {
            mirror.emit<bridge_t>(meta.session, { 1, meta.mirrored });
        }
        resubmit.emit<again_t>({ 0x5a, 0 });
        digest.pack(meta.note);
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {
        if (hdr.bridge.kind == 1) {
            hdr.data.b = hdr.bridge.value;
            hdr.data.c = 3;
        } else if (hdr.bridge.kind == 2) {
            hdr.data.b = hdr.bridge.value;
            hdr.data.c = 4;
        } else if (hdr.data.a == 3) {
            hdr.data.c = 0x10 + (bit<16>) intr.egress_rid_first;
        } else {
            hdr.data.c = intr.pkt_length;
        }
        if (hdr.data.a == 7 && hdr.bridge.kind == 0) {
            dprsr.mirror_type = 4;
        }
        hdr.bridge.setInvalid();
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(4) mirror;
    apply {
        mirror.emit<bridge_t>(8, { 2, 0xe2 });
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
