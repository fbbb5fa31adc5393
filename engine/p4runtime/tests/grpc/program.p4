// What the tests over gRPC write, read and hear of.

#include <core.p4>
#include <v1model.p4>

const bit<8> LEARN = 1;
const bit<8> MULTICAST = 2;

header data_h {
    bit<8> kind;
    bit<32> address;
}

struct headers_t {
    data_h data;
}

struct meta_t {
    bit<2> color;
}

struct seen_t {
    bit<32> address;
    bit<9> port;
}

parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @max_group_size(4)
    action_selector(HashAlgorithm.crc16, 16, 16) weighted;

    @selector_size_semantics("sum_of_members")
    @max_group_size(2)
    @max_member_weight(50)
    action_selector(HashAlgorithm.crc16, 16, 16) counted;

    action_selector(HashAlgorithm.crc16, 16, 16) unbounded;

    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) rates;

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action metered() {
        rates.read(meta.color);
    }

    table weighted_routes {
        key = {
            hdr.data.address: lpm;
            hdr.data.kind: selector;
        }
        actions = {
            forward;
        }
        implementation = weighted;
    }

    table counted_routes {
        key = {
            hdr.data.address: lpm;
            hdr.data.kind: selector;
        }
        actions = {
            forward;
        }
        implementation = counted;
    }

    table unbounded_routes {
        key = {
            hdr.data.address: lpm;
            hdr.data.kind: selector;
        }
        actions = {
            forward;
        }
        implementation = unbounded;
    }

    table hosts {
        key = {
            hdr.data.address: exact;
        }
        actions = {
            forward;
        }
        counters = hits;
        support_timeout = true;
        default_action = forward(3);
    }

    table policed {
        key = {
            hdr.data.address: exact;
        }
        actions = {
            metered;
        }
        meters = rates;
        default_action = metered();
    }

    table plain {
        key = {
            hdr.data.address: ternary;
        }
        actions = {
            forward;
            NoAction;
        }
        const default_action = NoAction();
    }

    table fixed {
        key = {
            hdr.data.kind: exact;
        }
        actions = {
            forward;
            NoAction;
        }
        const entries = {
            200: forward(1);
        }
    }

    apply {
        if (hdr.data.kind == LEARN) {
            digest<seen_t>(1, { hdr.data.address, standard_metadata.ingress_port });
        }
        hosts.apply();
        policed.apply();
        plain.apply();
        fixed.apply();
        weighted_routes.apply();
        counted_routes.apply();
        unbounded_routes.apply();
        if (hdr.data.kind == MULTICAST) {
            standard_metadata.mcast_grp = 1;
        }
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control compute(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute(), deparse()) main;
