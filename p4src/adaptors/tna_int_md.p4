// Whether a packet of INT-MD may grow and by how much, on Tofino. A program includes this file before its
// controls.
//
// The chip cannot add sixteen bits of one field, so tables have the words of each four instructions, and each
// comparison of two fields is a difference, made by an action.

#ifndef P4CC_TNA_INT_MD
#define P4CC_TNA_INT_MD

#define P4CC_INT_MD_CHECK
#define P4CC_INT_MD_UNKNOWN

#include "../include/transport.p4"
#include "../include/int.p4"
#include "tna_int.p4"

// Words of four bytes that a hop adds for these instructions: one for each bit, two for bits 4, 5 and 6.
// `bytes` are four times as many, a sum of its own: the chip moves no number from eight bits to sixteen.
control IntMdWords(in int_md_h md, out bit<8> words, out bit<16> bytes) {
    bit<8> first;
    bit<8> second;
    bit<8> third;
    bit<8> fourth;
    bit<8> last;
    bit<16> first_bytes;
    bit<16> second_bytes;
    bit<16> third_bytes;
    bit<16> fourth_bytes;
    bit<16> last_bytes;

    action add_first(bit<8> count, bit<8> growth) {
        first = count;
        first_bytes = (bit<16>)growth;
    }

    table words_first {
        key = {
            md.instructions[15:12]: exact @name("instructions_first");
        }
        actions = {
            add_first;
        }
        const entries = {
            0: add_first(0, 0);
            1: add_first(1, 4);
            2: add_first(1, 4);
            3: add_first(2, 8);
            4: add_first(1, 4);
            5: add_first(2, 8);
            6: add_first(2, 8);
            7: add_first(3, 12);
            8: add_first(1, 4);
            9: add_first(2, 8);
            10: add_first(2, 8);
            11: add_first(3, 12);
            12: add_first(2, 8);
            13: add_first(3, 12);
            14: add_first(3, 12);
            15: add_first(4, 16);
        }
        const default_action = add_first(0, 0);
        size = 16;
    }

    action add_second(bit<8> count, bit<8> growth) {
        second = count;
        second_bytes = (bit<16>)growth;
    }

    table words_second {
        key = {
            md.instructions[11:8]: exact @name("instructions_second");
        }
        actions = {
            add_second;
        }
        const entries = {
            0: add_second(0, 0);
            1: add_second(1, 4);
            2: add_second(2, 8);
            3: add_second(3, 12);
            4: add_second(2, 8);
            5: add_second(3, 12);
            6: add_second(4, 16);
            7: add_second(5, 20);
            8: add_second(2, 8);
            9: add_second(3, 12);
            10: add_second(4, 16);
            11: add_second(5, 20);
            12: add_second(4, 16);
            13: add_second(5, 20);
            14: add_second(6, 24);
            15: add_second(7, 28);
        }
        const default_action = add_second(0, 0);
        size = 16;
    }

    action add_third(bit<8> count, bit<8> growth) {
        third = count;
        third_bytes = (bit<16>)growth;
    }

    table words_third {
        key = {
            md.instructions[7:4]: exact @name("instructions_third");
        }
        actions = {
            add_third;
        }
        const entries = {
            0: add_third(0, 0);
            1: add_third(1, 4);
            2: add_third(1, 4);
            3: add_third(2, 8);
            4: add_third(1, 4);
            5: add_third(2, 8);
            6: add_third(2, 8);
            7: add_third(3, 12);
            8: add_third(1, 4);
            9: add_third(2, 8);
            10: add_third(2, 8);
            11: add_third(3, 12);
            12: add_third(2, 8);
            13: add_third(3, 12);
            14: add_third(3, 12);
            15: add_third(4, 16);
        }
        const default_action = add_third(0, 0);
        size = 16;
    }

    action add_fourth(bit<8> count, bit<8> growth) {
        fourth = count;
        fourth_bytes = (bit<16>)growth;
    }

    table words_fourth {
        key = {
            md.instructions[3:0]: exact @name("instructions_fourth");
        }
        actions = {
            add_fourth;
        }
        const entries = {
            0: add_fourth(0, 0);
            1: add_fourth(1, 4);
            2: add_fourth(1, 4);
            3: add_fourth(2, 8);
            4: add_fourth(1, 4);
            5: add_fourth(2, 8);
            6: add_fourth(2, 8);
            7: add_fourth(3, 12);
            8: add_fourth(1, 4);
            9: add_fourth(2, 8);
            10: add_fourth(2, 8);
            11: add_fourth(3, 12);
            12: add_fourth(2, 8);
            13: add_fourth(3, 12);
            14: add_fourth(3, 12);
            15: add_fourth(4, 16);
        }
        const default_action = add_fourth(0, 0);
        size = 16;
    }

    action add_pairs() {
        words = first + second;
        last = third + fourth;
        bytes = first_bytes + second_bytes;
        last_bytes = third_bytes + fourth_bytes;
    }

    action add_all() {
        words = words + last;
        bytes = bytes + last_bytes;
    }

    apply {
        words_first.apply();
        words_second.apply();
        words_third.apply();
        words_fourth.apply();
        add_pairs();
        add_all();
    }
}

// Ones for the instructions of one word that are not supported, bits 8 to 15. Four at a time: bits that say
// which headers are there share a container, of which a stage runs one action.
#define ONES(WORD) words[WORD].setValid(); words[WORD].value = 0xffffffff;

control IntMdUnknown(in bit<8> asked, inout int_word_h[8] words) {
    @hidden action first_0001() { ONES(3) }
    @hidden action first_0010() { ONES(2) }
    @hidden action first_0011() { ONES(2) ONES(3) }
    @hidden action first_0100() { ONES(1) }
    @hidden action first_0101() { ONES(1) ONES(3) }
    @hidden action first_0110() { ONES(1) ONES(2) }
    @hidden action first_0111() { ONES(1) ONES(2) ONES(3) }
    @hidden action first_1000() { ONES(0) }
    @hidden action first_1001() { ONES(0) ONES(3) }
    @hidden action first_1010() { ONES(0) ONES(2) }
    @hidden action first_1011() { ONES(0) ONES(2) ONES(3) }
    @hidden action first_1100() { ONES(0) ONES(1) }
    @hidden action first_1101() { ONES(0) ONES(1) ONES(3) }
    @hidden action first_1110() { ONES(0) ONES(1) ONES(2) }
    @hidden action first_1111() { ONES(0) ONES(1) ONES(2) ONES(3) }

    @hidden
    table first {
        key = {
            asked[7:4]: exact;
        }
        actions = {
            first_0001;
            first_0010;
            first_0011;
            first_0100;
            first_0101;
            first_0110;
            first_0111;
            first_1000;
            first_1001;
            first_1010;
            first_1011;
            first_1100;
            first_1101;
            first_1110;
            first_1111;
            NoAction;
        }
        const entries = {
            1: first_0001();
            2: first_0010();
            3: first_0011();
            4: first_0100();
            5: first_0101();
            6: first_0110();
            7: first_0111();
            8: first_1000();
            9: first_1001();
            10: first_1010();
            11: first_1011();
            12: first_1100();
            13: first_1101();
            14: first_1110();
            15: first_1111();
        }
        const default_action = NoAction();
        size = 16;
    }

    @hidden action last_0001() { ONES(7) }
    @hidden action last_0010() { ONES(6) }
    @hidden action last_0011() { ONES(6) ONES(7) }
    @hidden action last_0100() { ONES(5) }
    @hidden action last_0101() { ONES(5) ONES(7) }
    @hidden action last_0110() { ONES(5) ONES(6) }
    @hidden action last_0111() { ONES(5) ONES(6) ONES(7) }
    @hidden action last_1000() { ONES(4) }
    @hidden action last_1001() { ONES(4) ONES(7) }
    @hidden action last_1010() { ONES(4) ONES(6) }
    @hidden action last_1011() { ONES(4) ONES(6) ONES(7) }
    @hidden action last_1100() { ONES(4) ONES(5) }
    @hidden action last_1101() { ONES(4) ONES(5) ONES(7) }
    @hidden action last_1110() { ONES(4) ONES(5) ONES(6) }
    @hidden action last_1111() { ONES(4) ONES(5) ONES(6) ONES(7) }

    @hidden
    table last {
        key = {
            asked[3:0]: exact;
        }
        actions = {
            last_0001;
            last_0010;
            last_0011;
            last_0100;
            last_0101;
            last_0110;
            last_0111;
            last_1000;
            last_1001;
            last_1010;
            last_1011;
            last_1100;
            last_1101;
            last_1110;
            last_1111;
            NoAction;
        }
        const entries = {
            1: last_0001();
            2: last_0010();
            3: last_0011();
            4: last_0100();
            5: last_0101();
            6: last_0110();
            7: last_0111();
            8: last_1000();
            9: last_1001();
            10: last_1010();
            11: last_1011();
            12: last_1100();
            13: last_1101();
            14: last_1110();
            15: last_1111();
        }
        const default_action = NoAction();
        size = 16;
    }

    apply {
        first.apply();
        last.apply();
    }
}

control IntMdCheck(in ipv4_h ipv4, in udp_h udp, in transport_h transport, in int_md_shim_h shim, in int_md_h md,
                   in bit<16> mtu_bytes, out bit<8> words, out bit<16> growth, out bit<8> extension_growth,
                   out bool is_sound, out bool is_too_long) {
    IntMdWords() of_instructions;
    CanGrow() can_grow_now;

    bit<8> shim_bytes;
    bit<8> extension_bytes;
    bit<16> above_mtu;

    action measure() {
        shim_bytes = shim.length_words << 2;
    }

    // Lengths of a sound extension are whole words: a sum of 255 is one that the field cannot hold.
    action compare() {
        shim_bytes = transport.extension_len - shim_bytes;
        extension_growth = words << 2;
        above_mtu = ipv4.total_len + growth;
    }

    action exceed() {
        above_mtu = above_mtu |-| mtu_bytes;
        extension_bytes = transport.extension_len |+| extension_growth;
        is_sound = false;
        is_too_long = false;
    }

    action pass() {
        is_sound = true;
    }

    action stop() {
        is_sound = true;
        is_too_long = true;
    }

    // Both answers in one stage.
    @hidden
    table verdict {
        key = {
            shim.int_type: ternary;
            md.version: ternary;
            shim.length_words: ternary;
            shim_bytes: ternary;
            extension_bytes: ternary;
            above_mtu: ternary;
        }
        actions = {
            pass;
            stop;
            NoAction;
        }
        const entries = {
            // Shorter than the metadata header, or longer than an extension.
            (_, _, 0, _, _, _): NoAction();
            (_, _, 1, _, _, _): NoAction();
            (_, _, 2, _, _, _): NoAction();
            (_, _, 0x40 &&& 0x40, _, _, _): NoAction();
            (_, _, 0x80 &&& 0x80, _, _, _): NoAction();
            (INT_TYPE_MD, INT_MD_VERSION, _, 4, 255, _): stop();
            (INT_TYPE_MD, INT_MD_VERSION, _, 4, _, 0): pass();
            (INT_TYPE_MD, INT_MD_VERSION, _, 4, _, _): stop();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        bool can;
        can_grow_now.apply(ipv4, udp, can);
        measure();
        of_instructions.apply(md, words, growth);
        compare();
        exceed();
        if (can && md.hop_words == words[4:0]) {
            verdict.apply();
        }
    }
}

// A word takes one more container a stage. The words are made beside the check, since a hop that pushes
// has few stages left.
control IntMdPairs(in port_t ingress_port, in port_t egress_port, in priority_t queue, in queue_depth_t depth,
                   out bit<32> port_pair, out bit<32> queue_pair) {
    action take_first() {
        port_pair = (bit<32>)egress_port;
        queue_pair = (bit<32>)depth[15:0];
    }

    action take_second() {
        port_pair[24:16] = ingress_port;
        queue_pair[18:16] = depth[18:16];
    }

    action take_third() {
        queue_pair[26:24] = queue;
    }

    apply {
        take_first();
        take_second();
        take_third();
    }
}

#endif
