// Whether a packet of INT-MD may grow and by how much, on Tofino. A program includes this file before its
// controls.
//
// The chip cannot add sixteen bits of one field, so tables have the words of each four instructions, and each
// comparison of two fields is a difference, made by an action.

#ifndef P4CC_TNA_INT_MD
#define P4CC_TNA_INT_MD

#define P4CC_INT_MD_CHECK

#include "../include/transport.p4"
#include "../include/int.p4"
#include "tna_int.p4"

// Words of four bytes that a hop adds for these instructions: one for each bit, two for bits 4, 5 and 6.
control IntMdWords(in int_md_h md, out bit<8> words) {
    bit<8> first;
    bit<8> second;
    bit<8> third;
    bit<8> fourth;
    bit<8> last;

    action add_first(bit<8> count) {
        first = count;
    }

    table words_first {
        key = {
            md.instructions[15:12]: exact @name("instructions_first");
        }
        actions = {
            add_first;
        }
        const entries = {
            0: add_first(0);
            1: add_first(1);
            2: add_first(1);
            3: add_first(2);
            4: add_first(1);
            5: add_first(2);
            6: add_first(2);
            7: add_first(3);
            8: add_first(1);
            9: add_first(2);
            10: add_first(2);
            11: add_first(3);
            12: add_first(2);
            13: add_first(3);
            14: add_first(3);
            15: add_first(4);
        }
        const default_action = add_first(0);
        size = 16;
    }

    action add_second(bit<8> count) {
        second = count;
    }

    table words_second {
        key = {
            md.instructions[11:8]: exact @name("instructions_second");
        }
        actions = {
            add_second;
        }
        const entries = {
            0: add_second(0);
            1: add_second(1);
            2: add_second(2);
            3: add_second(3);
            4: add_second(2);
            5: add_second(3);
            6: add_second(4);
            7: add_second(5);
            8: add_second(2);
            9: add_second(3);
            10: add_second(4);
            11: add_second(5);
            12: add_second(4);
            13: add_second(5);
            14: add_second(6);
            15: add_second(7);
        }
        const default_action = add_second(0);
        size = 16;
    }

    action add_third(bit<8> count) {
        third = count;
    }

    table words_third {
        key = {
            md.instructions[7:4]: exact @name("instructions_third");
        }
        actions = {
            add_third;
        }
        const entries = {
            0: add_third(0);
            1: add_third(1);
            2: add_third(1);
            3: add_third(2);
            4: add_third(1);
            5: add_third(2);
            6: add_third(2);
            7: add_third(3);
            8: add_third(1);
            9: add_third(2);
            10: add_third(2);
            11: add_third(3);
            12: add_third(2);
            13: add_third(3);
            14: add_third(3);
            15: add_third(4);
        }
        const default_action = add_third(0);
        size = 16;
    }

    action add_fourth(bit<8> count) {
        fourth = count;
    }

    table words_fourth {
        key = {
            md.instructions[3:0]: exact @name("instructions_fourth");
        }
        actions = {
            add_fourth;
        }
        const entries = {
            0: add_fourth(0);
            1: add_fourth(1);
            2: add_fourth(1);
            3: add_fourth(2);
            4: add_fourth(1);
            5: add_fourth(2);
            6: add_fourth(2);
            7: add_fourth(3);
            8: add_fourth(1);
            9: add_fourth(2);
            10: add_fourth(2);
            11: add_fourth(3);
            12: add_fourth(2);
            13: add_fourth(3);
            14: add_fourth(3);
            15: add_fourth(4);
        }
        const default_action = add_fourth(0);
        size = 16;
    }

    action add_pairs() {
        words = first + second;
        last = third + fourth;
    }

    action add_all() {
        words = words + last;
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

control IntMdCheck(in ipv4_h ipv4, in udp_h udp, in transport_h transport, in int_md_shim_h shim, in int_md_h md,
                   in bit<16> mtu_bytes, out bit<8> words, out bool is_sound, out bool is_too_long) {
    IntMdWords() of_instructions;
    CanGrow() can_grow_now;

    bit<16> growth;
    bit<16> extension_bytes;
    bit<16> shim_bytes;
    bit<16> above_mtu;
    bit<8> other_words;

    action measure() {
        growth = (bit<16>)words << 2;
        shim_bytes = (bit<16>)shim.length_words << 2;
        extension_bytes = (bit<16>)transport.extension_len;
        other_words = (bit<8>)md.hop_words;
    }

    action compare() {
        shim_bytes = extension_bytes - shim_bytes;
        other_words = other_words - words;
        extension_bytes = extension_bytes + growth;
        above_mtu = ipv4.total_len + growth;
    }

    action exceed(bit<16> bound) {
        above_mtu = above_mtu |-| bound;
    }

    apply {
        bool can;
        can_grow_now.apply(ipv4, udp, can);
        of_instructions.apply(md, words);
        measure();
        compare();
        exceed(mtu_bytes);
        is_sound = false;
        if (can && other_words == 0 && shim_bytes == (bit<16>)INT_MD_SHIM_BYTES) {
            if (shim.int_type == INT_TYPE_MD && md.version == INT_MD_VERSION && shim.length_words >= INT_MD_HEADER_WORDS) {
                is_sound = true;
            }
        }
        is_too_long = above_mtu != 0 || extension_bytes[15:8] != 0;
    }
}

#endif
