// Strings are joined at compile time only.
#include <core.p4>
#include <v1model.p4>
#define BASE "ingress."
const string SUFFIX = "_t";

control c(inout bit<8> x)(string prefix) {
    action a() {}
    @name(BASE ++ "table" ++ SUFFIX) table t {
        key = { x : exact @name(BASE ++ "x"); }
        actions = { a; }
        default_action = a;
        entries = { 1 : a(); }
    }
    table keyless {
        actions = { a; }
        default_action = a;
        entries = { }
    }
    @name("a" ++ 1) table wrong {  //~ ERROR `@name` takes one string
        actions = { a; }
    }
    apply {
        t.apply();
        log_msg("x " ++ "= {}", { x });
        log_msg("a" ++ x);  //~ ERROR `++` cannot be applied to `string` and `bit<8>`
        keyless.apply();
    }
}
