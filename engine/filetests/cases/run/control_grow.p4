// A packet that may grow, and its lengths after that (p4src/controls/grow.p4): IPv4 and UDP length, extension length,
// whether it may. IP bytes up to 65000, 20 of them before UDP.
// packet 0 0064 0050 08 ff
// expect 1 006c 0058 10 01
// packet 0 fde8 fdd4 08 ff
// expect 1 fdf0 fddc 10 01
// packet 0 fde9 fdd5 08 ff
// expect 1 fde9 fdd5 08 00
// packet 0 0064 0051 08 ff
// expect 1 0064 0051 08 00
// packet 0 0064 004f 08 ff
// expect 1 0064 004f 08 00
#include <core.p4>
#include <v1model.p4>
#include "../../../../p4src/include/headers.p4"
#include "../../../../p4src/controls/grow.p4"

header data_h {
    bit<16> ip_bytes;
    bit<16> udp_bytes;
    bit<8>  extension_bytes;
    bit<8>  may_grow;
}

struct headers_t {
    data_h data;
}

struct metadata_t {}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        ipv4_h ipv4;
        udp_h udp;
        transport_h transport;
        ipv4.setValid();
        udp.setValid();
        transport.setValid();
        ipv4.total_len = hdr.data.ip_bytes;
        udp.length = hdr.data.udp_bytes;
        transport.extension_len = hdr.data.extension_bytes;
        hdr.data.may_grow = 0;
        if (can_grow(ipv4, udp)) {
            hdr.data.may_grow = 1;
            grow_packet(ipv4, udp, transport, 8, 8);
        }
        hdr.data.ip_bytes = ipv4.total_len;
        hdr.data.udp_bytes = udp.length;
        hdr.data.extension_bytes = transport.extension_len;
    }
}

#include "include/pipe.p4"
