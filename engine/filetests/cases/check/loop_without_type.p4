// The variable of `for (... in ...)` is declared in the loop, with its type.
control c(inout bit<8> x) {
    bit<8> at = 0;
    apply {
        for (at in 1 .. 6) { //~ ERROR the variable of a `for ... in` loop must be declared in the loop, with its type
            x = x + at;
        }
    }
}
