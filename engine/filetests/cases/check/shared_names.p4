// The control plane finds objects by name: no two of a kind share one.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action bump(inout bit<8> x) { x = x + 1; }
    table one {
        key = { hdr.data.a: exact; }
        actions = { bump(hdr.data.a); }
        default_action = bump();
    }
    table two {
        key = { hdr.data.b: exact; }
        actions = { bump(hdr.data.b); } //~ ERROR action `bump` listed with different bound arguments
        default_action = bump();
    }
    apply {
        one.apply();
        two.apply();
    }
}

#include "../run/include/pipe.p4"
