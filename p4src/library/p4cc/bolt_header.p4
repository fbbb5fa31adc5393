#include "../../include/bolt_header.p4"
