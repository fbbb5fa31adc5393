// Statements and calls where they do not belong.
#include "../run/include/v1.p4"

void f() {
    exit; //~ ERROR `exit` is allowed only in a control
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table t {
        actions = { NoAction; }
        default_action = NoAction();
    }
    action a() {
        t.apply(); //~ ERROR can be applied only in the apply block
    }
    action b() {
        break; //~ ERROR allowed only in a loop
    }
    table u {
        actions = { a; b; }
        default_action = a();
    }
    action c() {
        u.apply(); //~ ERROR can be applied only in the apply block
    }
    apply {
    }
}
