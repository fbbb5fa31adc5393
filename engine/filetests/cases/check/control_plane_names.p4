// Actions that the control plane could not tell apart. What the program does not use has no name.
#include <core.p4>
#include <v1model.p4>

struct headers_t { }
struct metadata_t { bit<8> x; }

action drop_all() { }
@name("same")
action one() { }
@name(".same")
action two() { } //~ ERROR two actions have the control-plane name `same`
@name("c.local")
action three() { }
@name("c.free")
action unused() { }

control c(inout bit<8> x) {
    @name(".drop_all")
    action other() { } //~ ERROR two actions have the control-plane name `drop_all`
    action local() { } //~ ERROR two actions have the control-plane name `c.local`
    action free() { }
    apply {
        other();
        local();
        free();
    }
}
control d(inout bit<8> x) {
    action free() { }
    apply {
        free();
    }
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start { transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    @name(".c") c() of_c;
    d() of_d;
    apply {
        drop_all();
        one();
        two();
        three();
        of_c.apply(meta.x);
        of_d.apply(meta.x);
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { } }

V1Switch(P(), V(), I(), E(), V(), D()) main;
