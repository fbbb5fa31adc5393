// DualPI2 (RFC 9332) on v1model: two queues of each port, coupled marks.

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/transport.p4"

struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_ports_h l4_ports;
}

struct metadata_t {}

#include "../include/ipv4_checksum.p4"
#include "../include/parser.p4"
#include "../controls/forward.p4"
#include "../controls/dualpi2.p4"

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    PacketParser() common;

    state start {
        common.apply(packet, hdr);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forward() forward;
    DualQueue() dual_queue;

    apply {
        bool drop = true;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0) {
            forward.apply(hdr, standard_metadata.egress_spec, drop);
        }
        if (drop) {
            mark_to_drop(standard_metadata);
        } else {
            dual_queue.apply(hdr.ipv4.ecn, standard_metadata.egress_spec, standard_metadata.ingress_global_timestamp,
                             standard_metadata.priority);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    DualPi2() dualpi2;

    apply {
        if (hdr.ipv4.isValid()) {
            bool drops = false;
            dualpi2.apply(hdr.ipv4.ecn, standard_metadata.egress_port, standard_metadata.deq_timedelta,
                          standard_metadata.egress_global_timestamp, drops);
            if (drops) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), verify_ipv4_checksum(), ingress(), egress(), compute_ipv4_checksum(), deparser()) main;
