// One header says what the switch shall do with the packet; egress writes down how the packet got there.

#include <core.p4>
#include <v1model.p4>

header op_h {
    bit<8>  op;
    bit<16> arg;
    // Written in egress.
    bit<16> kept;
    bit<8>  instance;
    bit<8>  rid;
    bit<16> enq_qdepth;
    bit<32> packet_length;
    bit<16> ingress_port;
}

struct headers_t { op_h op; }

struct metadata_t {
    @field_list(1)
    bit<16> keep;
}

parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.op);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 1;
        if (hdr.op.op == 0) {
            standard_metadata.egress_spec = (bit<9>) hdr.op.arg;
        } else if (hdr.op.op == 1) {
            mark_to_drop(standard_metadata);
        } else if (hdr.op.op == 2) {
            standard_metadata.mcast_grp = hdr.op.arg;
        } else if (hdr.op.op == 3) {
            meta.keep = 0x1234;
            clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.op.arg, 1);
            hdr.op.arg = 99;
        } else if (hdr.op.op == 4) {
            if (standard_metadata.instance_type == 0) {
                meta.keep = 0x55;
                resubmit_preserving_field_list(1);
            }
        } else if (hdr.op.op == 5) {
            if (standard_metadata.instance_type == 6) {
                meta.keep = meta.keep + 1;
            }
            resubmit_preserving_field_list(1);
        } else if (hdr.op.op == 8) {
            truncate(20);
        } else if (hdr.op.op == 9) {
            standard_metadata.priority = (bit<3>) hdr.op.arg;
        } else if (hdr.op.op == 12) {
            standard_metadata.mcast_grp = hdr.op.arg;
        } else if (hdr.op.op == 14) {
            clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.op.arg, 1);
            resubmit_preserving_field_list(1);
        } else if (hdr.op.op == 15 || hdr.op.op == 16) {
            standard_metadata.egress_spec = (bit<9>) hdr.op.arg;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.op.op == 6 && standard_metadata.instance_type == 0) {
            meta.keep = 0x66;
            hdr.op.arg = hdr.op.arg + 1;
            clone_preserving_field_list(CloneType.E2E, 7, 1);
        } else if (hdr.op.op == 7 && hdr.op.arg < 3) {
            meta.keep = 0x77;
            hdr.op.arg = hdr.op.arg + 1;
            recirculate_preserving_field_list(1);
        } else if (hdr.op.op == 10) {
            mark_to_drop(standard_metadata);
        } else if (hdr.op.op == 11 || hdr.op.op == 12) {
            recirculate_preserving_field_list(1);
        } else if (hdr.op.op == 13 || hdr.op.op == 16) {
            clone_preserving_field_list(CloneType.E2E, 7, 1);
            recirculate_preserving_field_list(1);
        } else if (hdr.op.op == 15) {
            // Once, as a plain packet to port 2.
            hdr.op.op = 0;
            hdr.op.arg = 2;
            recirculate_preserving_field_list(1);
        }
        hdr.op.kept = meta.keep;
        hdr.op.instance = (bit<8>) standard_metadata.instance_type;
        hdr.op.rid = (bit<8>) standard_metadata.egress_rid;
        hdr.op.enq_qdepth = (bit<16>) standard_metadata.enq_qdepth;
        hdr.op.packet_length = standard_metadata.packet_length;
        hdr.op.ingress_port = (bit<16>) standard_metadata.ingress_port;
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) { apply { } }

control deparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.op); } }

V1Switch(packet_parser(), verify_nothing(), ingress(), egress(), compute(), deparser()) main;
