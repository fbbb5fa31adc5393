// Registers of any number, and a table: what long answers are made of.
#include <core.p4>
#include <v1model.p4>

header address_t { bit<32> address; }
struct headers_t { address_t address; }
struct metadata_t { bit<32> value; }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.address);
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) { apply {} }

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    // registers

    action forward(bit<9> port) { std.egress_spec = port; }
    action drop() { mark_to_drop(std); }
    table hosts {
        key = { hdr.address.address: exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 65536;
    }
    apply { hosts.apply(); }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control compute_checksums(inout headers_t hdr, inout metadata_t meta) { apply {} }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.address); } }

V1Switch(parse(), verify_checksums(), ingress(), egress(), compute_checksums(), deparse()) main;
