// A program that declares the architecture by itself, with widths that the switch cannot work with.
#include <core.p4>

struct standard_metadata_t {
    bit<9>  ingress_port;
    bit<9>  egress_spec;
    bit<9>  egress_port;
    bit<32> instance_type;
    bit<32> packet_length;
    bit<32> enq_timestamp;
    bit<19> enq_qdepth;
    bit<32> deq_timedelta;
    bit<19> deq_qdepth;
    bit<48> ingress_global_timestamp;
    bit<48> egress_global_timestamp;
    bit<16> mcast_grp;
    bit<16> egress_rid;
    bit<1>  checksum_error;
    error   parser_error;
    bit<3>  priority;
}
extern void random<T>(out bit<16> result, in T low, in T high);
extern void assert(in bit<8> check);
extern register<T> {
    register(bit<32> size);
    void read(out bit<16> result, in bit<32> index);
}

parser Parser<H, M>(packet_in b, out H h, inout M m, inout standard_metadata_t s);
control VerifyChecksum<H, M>(inout H h, inout M m);
control Ingress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control Egress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control ComputeChecksum<H, M>(inout H h, inout M m);
control Deparser<H>(packet_out b, in H h);
package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> v, Ingress<H, M> i, Egress<H, M> e,
                       ComputeChecksum<H, M> c, Deparser<H> d);

header data_h {
    bit<8> a;
}
struct headers_t {
    data_h data;
}
struct metadata_t {
    bit<16> x;
}

#define OWN_DEPARSER
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(4) cells;
    apply {
        if (hdr.data.a == 1) {
            random(meta.x, 8w1, 8w2); //~ ERROR this has 8 bits, but the call takes 16
        } else if (hdr.data.a == 2) {
            assert(hdr.data.a); //~ ERROR this has 8 bits, but the call takes 1
        } else if (hdr.data.a == 3) {
            cells.read(meta.x, 0); //~ ERROR this has 16 bits, but the call takes 8
        }
    }
}
control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#include "../run/include/pipe.p4"
