// TNA: a header of `@flexible` fields that does not fill its last byte goes from ingress to egress, and before
// mirrored copies, in whole bytes: what stands behind it begins with a byte.
// session 5 3
// packet 0 01 22 000000aa 55667788
// expect 1 01 05 000000aa 55667788
// packet 0 03 22 000000aa 5566
// expect 1 03 05 000000aa 5566
// expect 3 00 05 0000000b 03 22 000000aa 5566
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<32> c;
}

struct inner_t {
    bit<3> x;
    bit<10> y;
}

header bridge_t {
    bit<8> kind;
    @flexible inner_t inner;
    @flexible PortId_t port;
    @flexible bool set;
}

header seen_t {
    bit<8> zero;
    bit<8> kind;
    bit<32> value;
}

struct headers_t {
    bridge_t bridge;
    data_t data;
}

struct metadata_t {
    MirrorId_t session;
}

struct egress_headers_t {
    bridge_t bridge;
    seen_t seen;
    data_t data;
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
    apply {
        tm.ucast_egress_port = 1;
        hdr.bridge.setValid();
        hdr.bridge.kind = 1;
        hdr.bridge.inner = { 5, 0x2aa };
        hdr.bridge.port = intr.ingress_port;
        hdr.bridge.set = true;
        if (hdr.data.a == 3) {
            dprsr.mirror_type = 2;
            meta.session = 5;
        }
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(2) mirror;
    apply {
        mirror.emit<bridge_t>(meta.session, { 2, { 5, 0 }, 11, true });
        pkt.emit(hdr);
    }
}

parser EP(packet_in pkt, out egress_headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.data);
        transition accept;
    }
}

control E(inout egress_headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intr) {
    apply {
        if (hdr.bridge.kind == 2) {
            hdr.seen.setValid();
            hdr.seen.zero = 0;
            hdr.seen.kind = 5w0 ++ hdr.bridge.inner.x;
            hdr.seen.value = 23w0 ++ hdr.bridge.port;
        } else if (hdr.bridge.set && hdr.bridge.inner.y == 0x2aa) {
            hdr.data.b = 5w0 ++ hdr.bridge.inner.x;
        }
        hdr.bridge.setInvalid();
    }
}

control ED(packet_out pkt, inout egress_headers_t hdr, in metadata_t meta) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
