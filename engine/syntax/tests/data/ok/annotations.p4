// Annotations in every form; a pragma ends with its line.
@empty
@text("a", 1 + 2, (nested (parens)), 'x', {}, @at, struct, é)
@nothing()
@list[1, "a", x == 2,]
@pairs[a = 1, b = "x"]
@no_items[]
@struct @_ @type
const bit<8> x = 1;
@pragma old style pragma ( [
@pragma alone
const bit<8> y = 2;
