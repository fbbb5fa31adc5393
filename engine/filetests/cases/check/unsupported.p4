// What the engine does not run yet is said, never dropped.
#include "../run/include/v1.p4"

T generic<T>(in T x) { return x; } //~ ERROR not supported yet: generic functions

control Generic<T>(in T x) { //~ ERROR not supported yet: generic controls
    apply { }
}

header inner_h { inner_t x; } //~ ERROR type `inner_t` is not declared

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action nop() { }
    table prioritized {
        key = { hdr.data.a: ternary; }
        actions = { nop; }
        const entries = {
            1 &&& 1: nop() @priority(3); //~ ERROR not supported yet: `@priority` of an entry
        }
    }
    apply {
        prioritized.apply();
    }
}
