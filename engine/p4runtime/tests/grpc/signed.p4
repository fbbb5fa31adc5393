// Keys and parameters of signed types. Egress ports say what matched.

#include <core.p4>
#include <v1model.p4>

header data_h {
    int<12> level;
    bit<4> mark;
}

struct headers_t {
    data_h data;
}

struct meta_t {}

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
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action replace(int<12> level) {
        hdr.data.level = level;
        standard_metadata.egress_spec = 7;
    }

    table ranges {
        key = {
            hdr.data.level: range;
        }
        actions = {
            forward;
            replace;
        }
        default_action = forward(6);
    }

    table values {
        key = {
            hdr.data.level: exact;
        }
        actions = {
            forward;
        }
        default_action = forward(6);
    }

    table patterns {
        key = {
            hdr.data.level: ternary;
        }
        actions = {
            forward;
        }
        default_action = forward(6);
    }

    table choices {
        key = {
            hdr.data.level: optional;
        }
        actions = {
            forward;
        }
        default_action = forward(6);
    }

    table written {
        key = {
            hdr.data.level: range;
        }
        actions = {
            forward;
        }
        default_action = forward(6);
        const entries = {
            -12s5 .. 12s5: forward(1);
            -12s2048 .. -12s6: forward(2);
        }
    }

    apply {
        if (hdr.data.mark == 0) {
            ranges.apply();
        } else if (hdr.data.mark == 1) {
            values.apply();
        } else if (hdr.data.mark == 2) {
            patterns.apply();
        } else if (hdr.data.mark == 3) {
            choices.apply();
        } else {
            written.apply();
        }
    }
}

control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.data);
    }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), verify_nothing(), deparse()) main;
