// Values of typed enums.
type bit<8> wrapped_t;

enum bit<4> small_t {
    a = 1,
    b = 16, //~ ERROR 16 of member `b` does not fit in `bit<4>`
    c = -1 //~ ERROR -1 of member `c` does not fit in `bit<4>`
}
enum int<4> signed_t {
    a = -8,
    b = 8 //~ ERROR 8 of member `b` does not fit in `int<4>`
}
enum wrapped_t wrapper_t { //~ ERROR the underlying type of an enum must be `bit<W>` or `int<W>`
    a = 1
}
