// Dual-threshold ECN marking for GST (and DCTCP, by its profile) on v1model.

#include <core.p4>
#include <v1model.p4>

#include "../include/headers.p4"
#include "../include/parser.p4"
#include "../include/sizes.p4"
#include "../controls/forward.p4"
#include "../controls/ecn_dual.p4"

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

control verify_ipv4_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forward() forward;

    apply {
        bool drop = true;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0) {
            forward.apply(hdr, standard_metadata.egress_spec, drop);
        }
        if (drop) {
            mark_to_drop(standard_metadata);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    EcnDual() ecn;

    apply {
        if (hdr.ipv4.isValid()) {
            ecn.apply(hdr.ipv4, standard_metadata.egress_port, standard_metadata.enq_qdepth, meta.level);
        }
    }
}

control compute_ipv4_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(packet_parser(), verify_ipv4_checksum(), ingress(), egress(), compute_ipv4_checksum(), deparser()) main;
