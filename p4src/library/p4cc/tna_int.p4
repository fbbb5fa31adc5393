#include "../../adaptors/tna_int.p4"
