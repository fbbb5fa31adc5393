// Tables: keys, actions, entries, properties.
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> value) { hdr.data.a = value; }
    action other() { }
    table no_actions { //~ ERROR table `no_actions` has no actions
        key = { hdr.data.a: exact; }
    }
    table bad {
        key = {
            hdr.data.a: exct; //~ ERROR match kind `exct` is not declared
            hdr.data: exact; //~ ERROR a value of type `data_h` cannot be a key
            hdr.data.a + 1: exact; //~ ERROR the key has no control-plane name
        }
        actions = {
            set;
            set; //~ ERROR action `set` is listed twice
            nothing; //~ ERROR action `nothing` is not declared
            hdr; //~ ERROR `hdr` is not an action
        }
        default_action = other(); //~ ERROR action `other` is not listed
        size = 4;
        size = 5; //~ ERROR property `size` is given twice
        colour = 3; //~ WARN unknown table property `colour`
    }
    table entries_table {
        key = { hdr.data.a: exact; }
        actions = { set; @defaultonly other; }
        const entries = {
            1: set(); //~ ERROR `set` takes 1 argument, but 0 are given
            (1, 2): set(1); //~ ERROR the keyset has 2 parts
            3: set(hdr.data.a); //~ ERROR must be a compile-time constant
            4: other(); //~ ERROR `@defaultonly`
        }
        default_action = other();
    }
    apply {
        bad.apply(1); //~ ERROR `apply` of a table takes no arguments
        bad.aply(); //~ ERROR a table has no method `aply`
        if (bad.apply().hits) { } //~ ERROR has no member `hits`
        switch (bad.apply().action_run) {
            other: { } //~ ERROR `other` is not an action of the table
        }
    }
}
