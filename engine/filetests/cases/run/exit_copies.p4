// exit in an action that a table runs: arguments that were copied are given back first, and nothing after it runs.
// packet 0 0001 0000 00000000
// expect 1 0701 0000 00000001
// packet 0 0002 0000 00000000
// expect 1 0509 0001 00000001
// packet 0 0003 0000 00000000
// expect 1 0803 0000 00000001
#define OWN_EGRESS
#include "include/v1.p4"

action leave_all() {
    exit;
}

control Inner(inout bit<8> x, inout bit<8> y) {
    action leave() {
        x = 7;
        exit;
    }
    action leave_by_call() {
        x = 8;
        leave_all();
        x = 1;
    }
    action stay() {
        x = 9;
    }
    table t {
        key = { y: exact; }
        actions = { leave; leave_by_call; stay; }
        const default_action = stay();
        const entries = {
            1: leave();
            3: leave_by_call();
        }
    }
    apply {
        t.apply();
        y = 5;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner() inner;
    apply {
        sm.egress_spec = 1;
        inner.apply(hdr.data.a, hdr.data.b);
        inner.apply(hdr.data.b, hdr.data.a);
        hdr.data.c = 1;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action last() {
        hdr.data.d = 1;
    }
    table runs_still {
        actions = { last; leave_all; }
        const default_action = last();
    }
    apply {
        runs_still.apply();
    }
}

#include "include/pipe.p4"
