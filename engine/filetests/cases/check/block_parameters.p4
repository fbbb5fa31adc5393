// A block that does not fit its place in the package: the difference is named.
#include "../run/include/v1.p4"

struct other_t {
    bit<8> x;
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

control Meta(inout headers_t hdr, inout other_t meta, inout standard_metadata_t sm) {
    apply { }
}

control Less(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Swapped(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t sm) {
    apply { }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        transition accept;
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(P(), C(), Meta(), I(), C(), D()) one; //~ ERROR `Meta` does not match parameter `ig`: parameter 2 is `inout other_t meta`, not `inout metadata_t meta`
V1Switch(P(), C(), I(), Less(), C(), D()) two; //~ ERROR `Less` does not match parameter `eg`: parameter 3 is missing: `inout standard_metadata_t standard_metadata`
V1Switch(P(), C(), I(), Swapped(), C(), D()) three; //~ ERROR `Swapped` does not match parameter `eg`: parameter 3 is `in standard_metadata_t sm`, not `inout standard_metadata_t standard_metadata`
V1Switch(P(), I(), I(), I(), C(), D()) four; //~ ERROR `I` does not match parameter `vr`: parameter 3 is surplus: `inout standard_metadata_t sm`
V1Switch(P(), C(), I(), P(), C(), D()) main; //~ ERROR `P` does not match parameter `eg`: it is a parser, not a control
