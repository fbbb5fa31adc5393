// What registers of Tofino 2 hold beyond Tofino 1's.
#include <core.p4>
#include <t2na.p4>

header data_t {
    bit<64> a;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

struct pair_t {
    bit<64> low;
    bit<64> high;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<pair_t, bit<8>>(256) pair;
    Register<bit<128>, bit<8>>(256) bits;
    Register<bit<24>, bit<8>>(256) odd; //~ ERROR `bit<1>` and `bit<128>` (rule `register-width`)
    Register<bit<64>, bit<8>>(256) wide;
    RegisterAction<bit<64>, bit<8>, bit<64>>(wide) next = {
        void apply(inout bit<64> value) {
            value = value + 1;
        }
    };
    apply {
        next.execute(hdr.data.a[7:0]);
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
}

control ED(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
