const int deeper = 2;
