// What the programs of p4src do not need and labs do: packets
// from and to the controller, multicast, clones, digests.
//
// A packet from a port meets a table by its destination address: forward, multicast, copy to the controller,
// or clone beside forwarding. A packet from the controller names its port.

#include <core.p4>
#include <v1model.p4>

const bit<9>  CPU_PORT = 510;
const bit<32> CLONE_SESSION = 5;
const bit<32> TABLE_SIZE = 64;

@controller_header("packet_out")
header packet_out_h {
    bit<9> egress_port;
    bit<7> padding;
}

@controller_header("packet_in")
header packet_in_h {
    bit<9> ingress_port;
    bit<7> reason;
}

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    packet_out_h packet_out;
    packet_in_h  packet_in;
    ethernet_h   ethernet;
}

struct metadata_t {
    @field_list(1)
    bit<9> ingress_port;
}

struct station_t {
    bit<48> addr;
    bit<9>  port;
}

parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: from_controller;
            default: from_port;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition from_port;
    }

    state from_port {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action multicast(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action to_controller(bit<7> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in.reason = reason;
    }

    action forward_and_clone(bit<9> port) {
        standard_metadata.egress_spec = port;
        clone_preserving_field_list(CloneType.I2E, CLONE_SESSION, 1);
    }

    action forward_and_learn(bit<9> port) {
        standard_metadata.egress_spec = port;
        station_t station;
        station.addr = hdr.ethernet.src_addr;
        station.port = standard_metadata.ingress_port;
        digest<station_t>(1, station);
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    table destinations {
        key = {
            hdr.ethernet.dst_addr: exact @name("dst_addr");
        }
        actions = {
            forward;
            multicast;
            to_controller;
            forward_and_clone;
            forward_and_learn;
            drop;
        }
        default_action = drop();
        size = TABLE_SIZE;
    }

    apply {
        meta.ingress_port = standard_metadata.ingress_port;
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            destinations.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // Replicas say which they are in the last bits of the source address.
    action mark_replica() {
        hdr.ethernet.src_addr[15:0] = standard_metadata.egress_rid;
    }

    apply {
        if (standard_metadata.instance_type == 5) {
            mark_replica();
            // A replica does not go back where the packet came from.
            if (standard_metadata.egress_port == meta.ingress_port) {
                mark_to_drop(standard_metadata);
            }
        }
        if (standard_metadata.instance_type == 1) {
            hdr.ethernet.src_addr[15:0] = (bit<16>)meta.ingress_port;
        }
    }
}

control no_verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control no_compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), no_verify(), ingress(), egress(), no_compute(), deparser()) main;
