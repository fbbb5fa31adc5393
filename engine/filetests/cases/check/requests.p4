// Requests to copy a packet or to send it again, made in ingress for egress or the reverse.
#define OWN_EGRESS
#include "../run/include/v1.p4"

control Copies(inout headers_t hdr) {
    apply {
        clone(CloneType.I2E, 1);
        clone(CloneType.E2E, 1); //~ ERROR a clone of type E2E can only be called in egress
        clone_preserving_field_list(CloneType.E2E, 1, 1); //~ ERROR a clone of type E2E can only be called in egress
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Copies() copies;
    action again() {
        recirculate_preserving_field_list(1); //~ ERROR `recirculate_preserving_field_list` can only be called in egress
    }
    table t {
        actions = { again; }
        default_action = again();
    }
    apply {
        copies.apply(hdr);
        resubmit_preserving_field_list(1);
        t.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        clone(CloneType.I2E, 1); //~ ERROR a clone of type I2E can only be called in ingress
        clone(CloneType.E2E, 1);
        resubmit_preserving_field_list(1); //~ ERROR `resubmit_preserving_field_list` can only be called in ingress
        recirculate_preserving_field_list(1);
    }
}

#include "../run/include/pipe.p4"
