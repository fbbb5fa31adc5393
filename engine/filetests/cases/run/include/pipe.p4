// The rest of the pipeline, included after `control I`.

#ifndef OWN_PARSER
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}
#endif

control V(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

#ifndef OWN_EGRESS
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}
#endif

#ifndef OWN_COMPUTE
control C(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}
#endif

#ifndef OWN_DEPARSER
control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}
#endif

V1Switch(P(), V(), I(), E(), C(), D()) main;
