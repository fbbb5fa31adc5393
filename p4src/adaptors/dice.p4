// Random numbers on v1model. `tna.p4` of this folder has the
// same for TNA; whichever file a program includes first counts.

#ifndef P4CC_DICE
#define P4CC_DICE

// Each of 2^16 values alike.
control Dice(out bit<16> drawn) {
    apply {
        random<bit<16>>(drawn, 0, 0xffff);
    }
}

#endif
