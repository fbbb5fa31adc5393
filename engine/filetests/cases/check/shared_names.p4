// The control plane finds objects by name: no two of a kind share one.
#include <core.p4>
#include <v1model.p4>

struct headers_t { }
struct metadata_t { bit<8> x; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start { transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    @name("bump") action one() { meta.x = meta.x + 1; }
    @name("bump") action two() { meta.x = meta.x + 2; } //~ ERROR two actions have the control-plane name `I.bump`
    apply {
        one();
        two();
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { } }

V1Switch(P(), V(), I(), E(), V(), D()) main;
