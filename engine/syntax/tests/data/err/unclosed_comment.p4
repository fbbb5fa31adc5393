const int a = 1;
//~v ERROR unterminated comment
/* no end
