// Names that are nearly right, and tables where none can be applied.
#include <core.p4>
#include <v1model.p4>

control c(inout bit<8> x) {
    action set_mark(bit<8> v) { x = v; }
    table first {
        actions = { set_mark; }
    }
    action other() {
        first.apply();  //~ ERROR a table can be applied only in the apply block of its control
    }
    table second {
        actions = { set_mrak; }  //~ ERROR action `set_mrak` is not declared
    }
    apply {
        first.aply();  //~ ERROR a table has no method `aply`
        frist.apply();  //~ ERROR name `frist` is not declared
        other();
    }
}
