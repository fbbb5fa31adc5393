// A packet's first byte chooses what is done with it. One profile runs on all pipes of the chip.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> kind;
    bit<8> value;
}

struct headers_t {
    data_t data;
}

struct note_t {
    bit<8> value;
}

struct metadata_t {
    note_t note;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        meta.note.value = hdr.data.value;
        transition accept;
    }
}

control I(
    inout headers_t hdr,
    inout metadata_t meta,
    in ingress_intrinsic_metadata_t intr,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t dprsr,
    inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<8>>(4, 7) sums;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sums) count = {
        void apply(inout bit<32> sum, out bit<32> result) {
            sum = sum + 1;
            result = sum;
        }
    };
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) seen;

    action send(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    action drop() {
        dprsr.drop_ctl = 1;
    }
    table forward {
        key = { hdr.data.kind : exact; }
        actions = { send; drop; }
        default_action = drop;
        size = 16;
    }

    apply {
        seen.count(0);
        hdr.data.value = count.execute(1)[7:0];
        if (hdr.data.kind == 9) {
            dprsr.digest_type = 1;
        }
        if (hdr.data.kind == 10) {
            tm.copy_to_cpu = 1;
        }
        forward.apply();
    }
}

control ID(
    packet_out pkt,
    inout headers_t hdr,
    in metadata_t meta,
    in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<note_t>() digest;
    apply {
        if (dprsr.digest_type == 1) {
            digest.pack(meta.note);
        }
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(
    inout headers_t hdr,
    inout metadata_t meta,
    in egress_intrinsic_metadata_t intr,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t dprsr,
    inout egress_intrinsic_metadata_for_output_port_t out_port) {
    Counter<bit<64>, bit<8>>(1, CounterType_t.PACKETS) left;
    apply {
        left.count(0);
    }
}

control ED(
    packet_out pkt,
    inout headers_t hdr,
    in metadata_t meta,
    in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
