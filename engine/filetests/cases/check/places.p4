// Statements and calls where they do not belong.
#include "../run/include/v1.p4"

void f() {
    exit; //~ ERROR `exit` can only stand in a control
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    table t {
        actions = { NoAction; }
        default_action = NoAction();
    }
    action a() {
        t.apply(); //~ ERROR can only be applied in the apply block
    }
    action b() {
        break; //~ ERROR can only stand in a loop
    }
    table u {
        actions = { a; b; }
        default_action = a();
    }
    action c() {
        u.apply(); //~ ERROR can only be applied in the apply block
    }
    apply {
    }
}
