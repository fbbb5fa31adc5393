// Actions that the control plane could not tell apart.
#include <core.p4>

action drop_all() { }
@name("same")
action one() { }
@name(".same")
action two() { } //~ ERROR two actions have the control-plane name `same`
@name("c.local")
action three() { }

control c(inout bit<8> x) {
    @name(".drop_all")
    action other() { } //~ ERROR two actions have the control-plane name `drop_all`
    action local() { } //~ ERROR two actions have the control-plane name `c.local`
    action free() { }
    apply {
        other();
        local();
        free();
    }
}
control d(inout bit<8> x) {
    action free() { }
    apply {
        free();
    }
}
