# ============================================================
#  Banner of a generator: don't read "this
# ============================================================
#!/usr/bin/env p4
#include <core.p4>
#include <v1model.p4>
#inlcude <psa.p4>  //~ WARN `#inlcude` is not a directive; the line is ignored, as in p4c
#frobnicate
struct headers_t {}
struct meta_t { bit<8> x; }

#### parser ####
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    # states
    state start {
        ## of it
        transition accept; 
    }
}
# controls ---
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        # the mark's value
        meta.x = 1;
	#	a tab before
        standard.egress_spec = 1;
    }
}
control D(packet_out packet, in headers_t hdr) { apply {} }
V1Switch(P(), V(), I(), I(), V(), D()) main;
# end
