#define OPEN(x) [x]
OPEN(
