// What v1model's deparser may not call: what keeps state, what asks something of the switch, tables.
#define OWN_DEPARSER
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

struct seen_t {
    bit<8> a;
}

control Sub(packet_out packet, in headers_t hdr) {
    counter(4, CounterType.packets) seen;
    apply {
        packet.emit(hdr.data);
        seen.count(0); //~ ERROR `counter.count` cannot be called in a deparser
    }
}

control D(packet_out packet, in headers_t hdr) {
    Sub() sub;
    counter(4, CounterType.packets) sent;
    register<bit<8>>(4) cells;
    meter(4, MeterType.packets) rates;
    bit<8> x = 0;
    bit<16> sum = 0;
    action note() {
        packet.emit(hdr.data);
    }
    table t {
        actions = { note; }
        default_action = note();
    }
    apply {
        if (hdr.data.a == 1) {
            sent.count(1); //~ ERROR `counter.count` cannot be called in a deparser
        } else if (hdr.data.a == 2) {
            cells.write(0, 1); //~ ERROR `register.write` cannot be called in a deparser
        } else if (hdr.data.a == 3) {
            cells.read(x, 0); //~ ERROR `register.read` cannot be called in a deparser
        } else if (hdr.data.a == 4) {
            rates.execute_meter(0, x); //~ ERROR `meter.execute_meter` cannot be called in a deparser
        } else if (hdr.data.a == 5) {
            t.apply(); //~ ERROR table `t` cannot be applied in a deparser
        } else if (hdr.data.a == 6) {
            truncate(5); //~ ERROR `truncate` cannot be called in a deparser
        } else if (hdr.data.a == 7) {
            clone(CloneType.E2E, 1); //~ ERROR `clone` cannot be called in a deparser
        } else if (hdr.data.a == 8) {
            digest<seen_t>(1, { hdr.data.a }); //~ ERROR `digest` cannot be called in a deparser
        } else if (hdr.data.a == 9) {
            update_checksum(true, { hdr.data.a }, sum, HashAlgorithm.csum16); //~ ERROR `update_checksum` cannot be called
        } else if (hdr.data.a == 10) {
            recirculate_preserving_field_list(1); //~ ERROR `recirculate_preserving_field_list` cannot be called
        }
        sub.apply(packet, hdr);
    }
}

#include "../run/include/pipe.p4"
