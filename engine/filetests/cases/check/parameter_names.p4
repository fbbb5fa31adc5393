// Names given twice among type parameters, parameters and constructor parameters.
control types<T, T>(inout T x); //~ ERROR `T` is already declared
package both<p>(bit<8> p); //~ ERROR `p` has the same name as a type parameter
extern void call<v>(in bit<8> v); //~ ERROR `v` has the same name as a type parameter
control c(inout bit<32> x)(bit<8> x) { //~ ERROR `x` is already declared
    apply { }
}
