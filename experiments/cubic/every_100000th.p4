// One data packet in a hundred thousand is lost, the first where slow start has reached the window of a loss.
#define FIRST_LOSS 2400
#define LOSS_EVERY 100000
#include "every_nth.p4"
