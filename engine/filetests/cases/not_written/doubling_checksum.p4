// Written out, the condition of the checksum has 2^40 operands.
#define OWN_COMPUTE
#include "../run/include/v1.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 1; }
}

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        bit<8> t0 = hdr.data.a;
        bit<8> t1 = t0 + t0;
        bit<8> t2 = t1 + t1;
        bit<8> t3 = t2 + t2;
        bit<8> t4 = t3 + t3;
        bit<8> t5 = t4 + t4;
        bit<8> t6 = t5 + t5;
        bit<8> t7 = t6 + t6;
        bit<8> t8 = t7 + t7;
        bit<8> t9 = t8 + t8;
        bit<8> t10 = t9 + t9;
        bit<8> t11 = t10 + t10;
        bit<8> t12 = t11 + t11;
        bit<8> t13 = t12 + t12;
        bit<8> t14 = t13 + t13;
        bit<8> t15 = t14 + t14;
        bit<8> t16 = t15 + t15;
        bit<8> t17 = t16 + t16;
        bit<8> t18 = t17 + t17;
        bit<8> t19 = t18 + t18;
        bit<8> t20 = t19 + t19;
        bit<8> t21 = t20 + t20;
        bit<8> t22 = t21 + t21;
        bit<8> t23 = t22 + t22;
        bit<8> t24 = t23 + t23;
        bit<8> t25 = t24 + t24;
        bit<8> t26 = t25 + t25;
        bit<8> t27 = t26 + t26;
        bit<8> t28 = t27 + t27;
        bit<8> t29 = t28 + t28;
        bit<8> t30 = t29 + t29;
        bit<8> t31 = t30 + t30;
        bit<8> t32 = t31 + t31;
        bit<8> t33 = t32 + t32;
        bit<8> t34 = t33 + t33;
        bit<8> t35 = t34 + t34;
        bit<8> t36 = t35 + t35;
        bit<8> t37 = t36 + t36;
        bit<8> t38 = t37 + t37;
        bit<8> t39 = t38 + t38;
        bit<8> t40 = t39 + t39;
        update_checksum(t40 == 3, { hdr.data.a }, hdr.data.c, HashAlgorithm.csum16);
    }
}

#include "../run/include/pipe.p4"
