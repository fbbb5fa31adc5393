// Ones for instructions of INT-MD that are not supported, in software. `tna_int_md.p4` of this folder has the
// same for the chip; whichever file a program includes first counts.

#ifndef P4CC_INT_MD_UNKNOWN
#define P4CC_INT_MD_UNKNOWN

#include "../include/int.p4"

// Ones for the instructions of one word that are not supported, bits 8 to 15.
control IntMdUnknown(in bit<8> asked, inout int_word_h[8] words) {
    apply {
        if (asked[7:7] == 1) {
            words[0].setValid();
            words[0].value = 0xffffffff;
        }
        if (asked[6:6] == 1) {
            words[1].setValid();
            words[1].value = 0xffffffff;
        }
        if (asked[5:5] == 1) {
            words[2].setValid();
            words[2].value = 0xffffffff;
        }
        if (asked[4:4] == 1) {
            words[3].setValid();
            words[3].value = 0xffffffff;
        }
        if (asked[3:3] == 1) {
            words[4].setValid();
            words[4].value = 0xffffffff;
        }
        if (asked[2:2] == 1) {
            words[5].setValid();
            words[5].value = 0xffffffff;
        }
        if (asked[1:1] == 1) {
            words[6].setValid();
            words[6].value = 0xffffffff;
        }
        if (asked[0:0] == 1) {
            words[7].setValid();
            words[7].value = 0xffffffff;
        }
    }
}

#endif
