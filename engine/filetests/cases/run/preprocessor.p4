# What the preprocessor decides, seen in packets: targets, conditions, pasting, lines that are ignored.
#define WITH_MARK true
#define IS_HARDWARE defined(__TARGET_TOFINO__)
#define ACTION(prefix, name) action prefix##name() { hdr.data.b = hdr.data.b + 1; }
#define LOG(format, ...) log_msg(format, ##__VA_ARGS__)
#define STEP(n, rest...) hdr.data.c = hdr.data.c + n __VA_OPT__(+ rest)
#if defined(BUCKETS) && 1024 / BUCKETS > 4
#define BUCKET 1
#else
#define BUCKET 2
#endif
#include <core.p4>
#include <v1model.p4>

header data_t { bit<8> a; bit<8> b; bit<16> c; bit<16> version; }
struct headers_t { data_t data; }
struct meta_t {}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    ACTION(, plain)
    ACTION(with_, prefix)
    apply {
        standard.egress_spec = 1;
        # set the mark: don't count this line
#ifdef __TARGET_BMV2__
        hdr.data.a = BUCKET;
#endif
#if IS_HARDWARE || WITH_MARK
        hdr.data.a = 0xff;
#endif
        plain();
        with_prefix();
        LOG("plain");
        LOG("b = {}", { hdr.data.b });
        STEP(1);
        STEP(2, 3);
        hdr.data.version = (bit<16>)(V1MODEL_VERSION % 10000);
    }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), I(), V(), D()) main;

// packet 0 00 00 0000 0000
// expect_log plain
// expect_log b = 2
// expect_log plain
// expect_log b = 4
// expect 1 02 04 000c 0065
