// Type parameters: bodies are checked for the types that they are used with.
#include "../run/include/v1.p4"

T same<T>(in T x) {
    return x;
}

T plus_one<T>(in T x) {
    return x + 1; //~ ERROR `+` cannot be applied to `bool` and `int`
}

T again<T>(in T x) {
    return again<T>(x); //~ ERROR `again` is used in its own body
}

bit<8> unknown<T>() {
    return 1;
}

control Generic<T>(inout T x) {
    apply { }
}

control Takes(inout bit<8> x);

control Applies(inout bit<16> x)(Takes inner) {
    apply {
        inner.apply(x); //~ ERROR parameter `x` has type `bit<8>`, found `bit<16>`
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Generic() missing; //~ ERROR the type arguments of `Generic` are missing
    Generic<bit<8>, bit<8>>() too_many; //~ ERROR takes 1 type arguments, but 2 are given
    Generic<bit<16>>() wide;
    Applies(wide) mismatched; //~ ERROR `Generic` does not match parameter `inner`: parameter 1 is `inout bit<16> x`, not `inout bit<8> x`
    apply {
        bool flag = plus_one(true);
        bit<8> n = again(hdr.data.a);
        n = same(1); //~ ERROR the width of a number in this call of `same` is unknown
        n = unknown(); //~ ERROR a type argument of `unknown` cannot be inferred
    }
}
