#include "../../include/sizes.p4"
