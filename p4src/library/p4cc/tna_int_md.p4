#include "../../adaptors/tna_int_md.p4"
