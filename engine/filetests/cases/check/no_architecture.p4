// Without the architecture's file there is one error, which names it.
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct meta_t {}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {  //~ ERROR `standard_metadata_t` is declared in v1model.p4, which is not included
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    table t {
        key = { hdr.h.a : exact; }
        actions = { drop; NoAction; }
    }
    apply { t.apply(); }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), I(), V(), D()) main;
