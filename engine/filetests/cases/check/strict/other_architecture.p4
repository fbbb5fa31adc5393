// Tofino's rules are for its programs.
#include <core.p4>
#include <v1model.p4>

struct headers_t { }
struct metadata_t { }

parser P(packet_in pkt, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition accept;
    }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control D(packet_out pkt, in headers_t hdr) {
    apply { }
}

V1Switch(P(), C(), I(), I(), C(), D()) main; //~ ERROR the rules of Tofino apply only to TNA and T2NA programs
