// A NoAction that a table without a default action could not run.
action NoAction(in bit<8> x) { } //~ ERROR `NoAction` must be an action without parameters
control c() {
    table t {
        actions = { }
    }
    apply {
        t.apply();
    }
}
