// PSA: metadata goes with every kind of packet; a packet that no one sends is dropped; clones start over.
// session 7 3
// session 8 4
// multicast 5 1 2
// A packet that ingress sends nowhere.
// packet 0 00 00 0000
// expect nothing
// Unicast: egress writes what ingress handed on, and the packet's path.
// packet 0 01 00 0000
// expect 1 01 11 0001
// Multicast.
// packet 0 02 00 0000
// expect 1 02 22 0002
// expect 2 02 22 0002
// Resubmitted once, with metadata.
// packet 0 03 00 0000
// expect 1 03 5a 0001
// Recirculated once, with metadata and what egress wrote.
// packet 0 04 00 0000
// expect 1 04 a6 0001
// Cloned at ingress: the clone is the packet as it came in, with metadata of its own.
// packet 0 05 99 0000
// expect 1 05 33 0001
// expect 3 05 c1 0003
// Dropped after a clone at ingress.
// packet 0 06 99 0000
// expect 3 06 c1 0003
// Cloned at egress: the packet as it left, with metadata of its own.
// packet 0 07 00 0000
// expect 1 07 44 0001
// expect 4 07 e2 0004
#include "include/psa_pipe.p4"

struct bridge_t {
    bit<8> value;
}

struct metadata_t {
    bit<8> value;
}

parser IP(packet_in pkt, out headers_t hdr, inout metadata_t meta, in psa_ingress_parser_input_metadata_t istd,
          in bridge_t resubmit_meta, in bridge_t recirculate_meta) {
    state start {
        pkt.extract(hdr.data);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: resubmitted;
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            default: accept;
        }
    }
    state resubmitted {
        meta.value = resubmit_meta.value;
        transition accept;
    }
    state recirculated {
        meta.value = recirculate_meta.value + hdr.data.b;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    apply {
        if (hdr.data.a == 1) {
            meta.value = 0x11;
            send_to_port(ostd, (PortId_t) 1);
        } else if (hdr.data.a == 2) {
            meta.value = 0x22;
            multicast(ostd, (MulticastGroup_t) 5);
        } else if (hdr.data.a == 3) {
            send_to_port(ostd, (PortId_t) 1);
            if (istd.packet_path != PSA_PacketPath_t.RESUBMIT) {
                ostd.resubmit = true;
            }
        } else if (hdr.data.a == 4) {
            if (istd.packet_path == PSA_PacketPath_t.RECIRCULATE && istd.ingress_port == PSA_PORT_RECIRCULATE) {
                send_to_port(ostd, (PortId_t) 1);
            } else {
                meta.value = 0xa0;
                send_to_port(ostd, PSA_PORT_RECIRCULATE);
            }
        } else if (hdr.data.a == 5 || hdr.data.a == 6) {
            hdr.data.b = 0xff;
            meta.value = 0x33;
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 7;
            if (hdr.data.a == 5) {
                send_to_port(ostd, (PortId_t) 1);
            }
        } else if (hdr.data.a == 7) {
            meta.value = 0x44;
            send_to_port(ostd, (PortId_t) 1);
        }
    }
}

control ID(packet_out pkt, out bridge_t clone_i2e_meta, out bridge_t resubmit_meta, out bridge_t normal_meta,
           inout headers_t hdr, in metadata_t meta, in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_resubmit(istd)) {
            resubmit_meta.value = 0x5a;
        }
        if (psa_clone_i2e(istd)) {
            clone_i2e_meta.value = 0xc1;
        }
        if (psa_normal(istd)) {
            normal_meta.value = meta.value;
        }
        pkt.emit(hdr.data);
    }
}

parser EP(packet_in pkt, out headers_t hdr, inout metadata_t meta, in psa_egress_parser_input_metadata_t istd,
          in bridge_t normal_meta, in bridge_t clone_i2e_meta, in bridge_t clone_e2e_meta) {
    state start {
        pkt.extract(hdr.data);
        meta.value = normal_meta.value;
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: ingress_clone;
            PSA_PacketPath_t.CLONE_E2E: egress_clone;
            default: accept;
        }
    }
    state ingress_clone {
        meta.value = clone_i2e_meta.value;
        transition accept;
    }
    state egress_clone {
        meta.value = clone_e2e_meta.value;
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
          inout psa_egress_output_metadata_t ostd) {
    apply {
        hdr.data.b = meta.value;
        if (istd.egress_port == PSA_PORT_RECIRCULATE) {
            hdr.data.b = 0x06;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.data.c = 1;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.data.c = 2;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_I2E) {
            hdr.data.c = 3;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_E2E) {
            hdr.data.c = 4;
        }
        if (hdr.data.a == 7 && istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 8;
        }
    }
}

control ED(packet_out pkt, out bridge_t clone_e2e_meta, out bridge_t recirculate_meta, inout headers_t hdr,
           in metadata_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) {
            clone_e2e_meta.value = 0xe2;
        }
        if (psa_recirculate(istd, edstd)) {
            recirculate_meta.value = meta.value;
        }
        pkt.emit(hdr.data);
    }
}

IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
