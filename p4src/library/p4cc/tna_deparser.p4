#include "../../adaptors/tna_deparser.p4"
