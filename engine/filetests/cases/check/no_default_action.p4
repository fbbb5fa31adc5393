// Without core.p4 a table has no `NoAction`.
control C(in bit<8> x) {
    action one() { }
    table t { //~ ERROR table `t` has no default action
        actions = { one; }
    }
    apply {
        t.apply();
    }
}
control Only(in bit<8> x);
package Own(Only only);
Own(C()) main;
