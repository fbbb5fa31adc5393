// Bytes that counters count, lengths that egress sees, indexes that counters and meters do not have.
#define OWN_EGRESS
#include "../../../engine/filetests/cases/run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    counter(2, CounterType.packets_and_bytes) arrived;
    meter(2, MeterType.packets) rates;
    apply {
        sm.egress_spec = 1;
        arrived.count((bit<32>) hdr.data.a);
        hdr.data.b = 9;
        rates.execute_meter((bit<32>) hdr.data.a, hdr.data.b);
        truncate(9);
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    counter(2, CounterType.packets_and_bytes) sent;
    apply {
        sent.count((bit<32>) hdr.data.a);
        hdr.data.d = sm.packet_length;
    }
}

#include "../../../engine/filetests/cases/run/include/pipe.p4"
