// return leaves one control, exit all of them, out of an action too; arguments changed before exit stay changed.
// packet 0 0000 0000 00000000
// expect 1 000a 0001 00000000
// packet 0 0100 0000 00000000
// expect 1 010b 0000 00000000
// packet 0 0200 0000 00000000
// expect 1 020c 0000 00000000
#include "include/v1.p4"

control Inner(in bit<8> kind, inout bit<8> result) {
    action leave() {
        exit;
    }
    apply {
        result = 10;
        if (kind == 0) {
            return;
        }
        result = 11;
        if (kind == 1) {
            exit;
        }
        result = 12;
        leave();
        result = 13;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner() inner;
    apply {
        sm.egress_spec = 1;
        inner.apply(hdr.data.a, hdr.data.b);
        hdr.data.c = 1;
    }
}

#include "include/pipe.p4"
