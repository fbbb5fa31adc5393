// What a switch tells its controller: packets, digests, entries that nobody hits.

#include <core.p4>
#include <v1model.p4>

const bit<9> CPU = 510;

@controller_header("packet_in")
header packet_in_h {
    bit<9> ingress_port;
    bit<7> pad;
}

@controller_header("packet_out")
header packet_out_h {
    bit<9> egress_port;
    bit<7> pad;
}

header data_h {
    bit<8> kind;
    bit<32> address;
}

struct headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    data_h data;
}

struct meta_t {
    bit<2> color;
}

struct learn_t {
    bit<32> address;
    bit<9> port;
}

parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU: from_controller;
            default: from_network;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition from_network;
    }

    state from_network {
        packet.extract(hdr.data);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action_selector(HashAlgorithm.crc16, 16, 16) next_hops;
    direct_meter<bit<2>>(MeterType.packets) rates;

    action known() {
        rates.read(meta.color);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table hosts {
        key = {
            hdr.data.address: exact;
        }
        actions = {
            known;
            @defaultonly NoAction;
        }
        meters = rates;
        support_timeout = true;
        default_action = NoAction();
    }

    table routes {
        key = {
            hdr.data.address: lpm;
            hdr.data.kind: selector;
        }
        actions = {
            forward;
        }
        implementation = next_hops;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            hosts.apply();
            if (!routes.apply().hit) {
                digest<learn_t>(1, { hdr.data.address, standard_metadata.ingress_port });
                hdr.packet_in.setValid();
                hdr.packet_in.ingress_port = standard_metadata.ingress_port;
                standard_metadata.egress_spec = CPU;
            }
        }
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control compute(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
