// One data packet in ten thousand is lost, the first where slow start has reached the window of a loss.
#define FIRST_LOSS 450
#define LOSS_EVERY 10000
#include "every_nth.p4"
