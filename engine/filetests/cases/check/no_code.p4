// What the checks accept and the lowering has no code for is named with its place.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    bit<0> none = 0;
    apply {
        sm.egress_spec = 1;
        for (bit<0> i in none .. 0) { //~ ERROR not supported yet: this statement
            hdr.data.a = 1;
        }
    }
}

#include "../run/include/pipe.p4"
