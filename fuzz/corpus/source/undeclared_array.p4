control c() {
    apply {
        m a[4] = 1;
        m[2][3] b;
    }
}
