#define LATER 1
const string a = "no end;
//~^ ERROR this string is never closed
const bit<8> b = LATER +;
//~v ERROR expected `;` after the constant
