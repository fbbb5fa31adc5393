// The front of a TNA program whose ingress control does the work: one header of a byte `a`, a byte `b` and 32
// bits `c`.
#include <core.p4>
#include <tna.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<32> c;
}

struct headers_t {
    data_t data;
}

struct metadata_t { }

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
}
