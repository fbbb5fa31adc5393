#include "../../include/int.p4"
