const int a = 1;
//~v ERROR this comment is never closed
/* no end
