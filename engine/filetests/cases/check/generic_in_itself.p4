// A generic struct as an argument of itself would be the same in P4's eyes.
struct box_t<T> { T value; }
struct outer_t<T> {
    box_t<T> one;
    box_t<box_t<T>> two; //~ ERROR `box_t` has itself as a type argument
}
const outer_t<bit<8>> o = { one = { value = 1 }, two = { value = { value = 2 } } };

// By way of another generic it is a type like any other.
bit<8> inner<T>(in T value) {
    box_t<T> held;
    held.value = value;
    return 1;
}
bit<8> nested(in box_t<bit<8>> value) { return inner(value); }
