#include "../../include/ecn.p4"
