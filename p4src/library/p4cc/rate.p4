#include "../../include/rate.p4"
