#include "../../include/parser.p4"
