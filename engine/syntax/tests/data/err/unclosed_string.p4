#define LATER 1
const string a = "no end;
//~^ ERROR this string is never closed
//~^^ ERROR expected `;` after the constant
const bit<8> b = LATER +;
//~^ ERROR expected an expression, found `;`
