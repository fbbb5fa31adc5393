// Precedence, casts, `<` and `>` in every role, literals.
typedef bit<8> T;
struct S { bit<8> a; bit<8> b; }
header H { bit<8> f; }
enum E { A, B }
extern bit<8> f<X>(in bit<8> x);
extern G<X> { G(bit<8> size); X get(in bit<8> i); }

const int levels = 1 || 2 && 3 == 4 < 5 | 6 ^ 7 & 8 << 9 + 10 * 11;
const int left = 1 - 2 - 3;
const int shifts = 1 >> 2 >> 3 << 4;
const bool compare = 1 > 2;
const bool compare_eq = 1 >= 2 != (1 <= 2);
const bit<8> saturate = 1 |+| 2 |-| 3;
const bit<16> concat = 8w1 ++ 8w2;
const int choose = true ? 1 : false ? 2 : 3;
const int signs = - + ~ 1;
const bool invert = !true;
const bit<8> cast = (bit<8>) 1 + 2;
const T cast_named = (T) (1 + 2);
const int parens = (1 + 2) * 3;
const bit<8> cast_of_sign = (T) -1;
const bit<4> slice = (8w255)[7:4];
const bit<4> plus_slice = (8w255)[4+:4];
const bit<(1 + 2) * 2> wide = 1;
const bit<8 + 8> sum_wide = 1;
const bit<8> hex = 0xFF;
const bit<8> bin = 8w0b_1010_1010;
const bit<8> oct = 16w0o377;
const bit<8> dec = 0d10;
const int<8> signed = 8s0x7F;
const int big = 1_000_000_000_000_000_000_000_000_000_000;
const string text = "a \"quoted\" \\ text";
const string lines = "two
lines";
const bit<8> call = f<bit<8>>(1);
const bit<8> call_nested = f<tuple<bit<8>, list<bit<8>>>>(1);
const bool less = cast < T.x;
const bool less_call = cast < f<T>(1);
const E member = E.A;
const error err = error.NoMatch;
const S list_value = {1, 2};
const S trailing = {1, 2,};
const S struct_value = {a = 1, b = 2};
const S partial = {a = 1, ...};
const S defaults = {...};
const S typed = (S) {a = 1, b = 2};
const H invalid = {#};
const H[3] stack = {{1}, ...};
const bit<8> absolute = .cast;
G<bit<32>>(8) instance;
