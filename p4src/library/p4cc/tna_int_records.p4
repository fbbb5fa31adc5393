#include "../../adaptors/tna_int_records.p4"
