// A table, a value set and a parameter as P4Info of TNA shows them.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<16> c;
}

struct headers_t {
    data_t data;
}

struct metadata_t {
    bit<10> part;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t im) {
    value_set<bit<8>>(4) kinds;
    state start {
        pkt.extract(im);
        pkt.advance(PORT_METADATA_SIZE);
        md.part = 0;
        pkt.extract(hdr.data);
        transition select(hdr.data.a) {
            kinds: special;
            default: accept;
        }
    }
    state special {
        md.part = 1;
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t im,
        in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS) ports;
    Atcam(2) partitions;
    action send(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    table forward {
        key = {
            hdr.data.c : ternary;
            md.part : atcam_partition_index;
        }
        actions = { send; }
        implementation = partitions;
        size = 64;
    }
    apply {
        ports.count(im.ingress_port);
        forward.apply();
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t md,
        in ingress_intrinsic_metadata_for_deparser_t dm) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t em) {
    state start {
        pkt.extract(em);
        md.part = 0;
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t em,
        in egress_intrinsic_metadata_from_parser_t pm, inout egress_intrinsic_metadata_for_deparser_t dm,
        inout egress_intrinsic_metadata_for_output_port_t om) {
    apply {
    }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t md,
        in egress_intrinsic_metadata_for_deparser_t dm) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
