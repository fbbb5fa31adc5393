// Types that the control plane is told of: declared by `type`, with and without translation, enums of both
// kinds, errors; annotations in every spelling; names of keys through annotated fields.

#include <core.p4>
#include <v1model.p4>

const bit<8> DEPTH = 4;

type bit<32> Address_t;
@p4runtime_translation("p4cc.test/PortId_t", bit<32>)
type bit<9> PortId_t;
@p4runtime_translation("", string)
@p4runtime_translation_mappings({ { "", 0 }, { "drop", 511 }, })
type bit<10> Vrf_t;
@audited type Address_t Host_t;

enum bit<16> Ethertype_t {
    IPV4 = 0x800,
    IPV6 = 0x86dd
}
enum Mode_t { PASS, DROP }

// No packet reaches its call; the control plane hears of it nevertheless.
action unreached(inout bit<16> level) {
    level = 0;
}

header data_t {
    bit<32> source;
    Address_t destination;
    Ethertype_t ethertype;
    bit<16> level;
}

@controller_header("packet_in")
header packet_in_t {
    PortId_t ingress_port;
    bit<7> pad;
    Vrf_t vrf;
    bit<6> rest;
}

@controller_header("packet_out")
header packet_out_t {
    PortId_t egress_port;
    @hidden bit<7> pad;
}

struct report_t {
    PortId_t port;
    Vrf_t vrf;
    Ethertype_t ethertype;
    bit<16> level;
}

struct local_t {
    Host_t host;
    @name("port") PortId_t in_port;
    Vrf_t vrf;
    bool routed;
}

struct metadata_t {
    @name(".local") local_t inner;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    @name("d") data_t data;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        meta.inner.in_port = (PortId_t)std.ingress_port;
        transition select(std.ingress_port) {
            255: parse_packet_out;
            default: parse_data;
        }
    }
    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }
    state parse_data {
        packet.extract(hdr.data);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<Ethertype_t>(4) kinds;
    register<report_t>(4) reports;
    register<Vrf_t>(4) vrfs;

    action drop() { mark_to_drop(std); }
    @oneshot() @refers_to(vrfs, index) @depth[DEPTH * 2, "a", true && false]
    action forward(PortId_t port, @id(7) Vrf_t vrf, Mode_t mode) {
        std.egress_spec = (bit<9>)port;
        meta.inner.vrf = vrf;
        if (mode == Mode_t.DROP) {
            mark_to_drop(std);
        }
    }
    action punt() {
        std.egress_spec = 255;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.inner.in_port;
        hdr.packet_in.vrf = meta.inner.vrf;
        hdr.packet_in.pad = 0;
        hdr.packet_in.rest = 0;
    }
    action learn() {
        report_t report;
        report.port = meta.inner.in_port;
        report.vrf = meta.inner.vrf;
        report.ethertype = hdr.data.ethertype;
        report.level = hdr.data.level;
        digest<report_t>(1, report);
        kinds.write(0, hdr.data.ethertype);
        vrfs.write(0, meta.inner.vrf);
        reports.write(0, report);
    }

    @id(0x2000001)
    table route {
        key = {
            hdr.data.destination: exact;
            meta.inner.in_port: ternary;
        }
        actions = { forward; drop; NoAction; }
        const default_action = NoAction();
        size = 16;
    }
    table classify {
        key = {
            hdr.data.ethertype: exact;
            hdr.data.isValid(): exact;
            meta.inner.vrf: optional;
            meta.inner.host: lpm;
            std.parser_error: exact @name("error");
        }
        actions = { punt; learn; drop; NoAction; }
        const default_action = NoAction();
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = (bit<9>)hdr.packet_out.egress_port;
        } else {
            meta.inner.host = (Host_t)hdr.data.destination;
            route.apply();
            classify.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        exit;
        unreached(hdr.data.level);
    }
}

control no_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), no_checksum(), ingress(), egress(), no_checksum(), deparse()) main;
