/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * Fixed-point arithmetic of the Linux senders: integers only, no 128-bit types, no division by zero.
 *
 * Two formats, both unsigned 64-bit integers:
 *   segments  Q32.32, windows and distances up to 2^32 segments;
 *   fraction  Q2.62, values from 0 to 1: alpha, penalties, growth per acknowledged segment.
 * Exponents are Q32.32. Products and quotients round to nearest; results that do not fit saturate.
 *
 * host_agents/fixed/tests compares each function with floating point. */
#ifndef P4CC_FIXED_H
#define P4CC_FIXED_H

#include <linux/types.h>

#define FX_SEGMENT_BITS 32
#define FX_FRACTION_BITS 62
#define FX_SEGMENT ((__u64)1 << FX_SEGMENT_BITS)
#define FX_ONE ((__u64)1 << FX_FRACTION_BITS)
#define FX_MAX (~(__u64)0)
/* ln 2 as a fraction. */
#define FX_LN2 ((__u64)3196577161300663915)

#define FX_FUNCTION static __attribute__((always_inline, unused)) inline
/* Longer ones. In eBPF they are global functions, which the kernel's verifier checks once and not at each
 * call. */
#ifdef __bpf__
#define FX_ROUTINE __attribute__((noinline))
#else
#define FX_ROUTINE static __attribute__((noinline, unused))
#endif

struct fx_product {
	__u64 high;
	__u64 low;
};

/* Index of the highest set bit; 0 for 0. No branch: the kernel's verifier would follow both ways of each. */
FX_FUNCTION __u32 fx_top_bit(__u64 value)
{
	__u32 bit = 0, step;

	for (step = 32; step > 0; step /= 2) {
		__u64 above = value >> step;
		/* 1 if any bit is set: a number or its negation has the sign. */
		__u32 shift = (__u32)((above | -above) >> 63) * step;

		bit += shift;
		value >>= shift & 63;
	}
	return bit;
}

FX_FUNCTION __u64 fx_min(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

FX_FUNCTION __u64 fx_max(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

FX_FUNCTION __u64 fx_clamp(__u64 value, __u64 low, __u64 high)
{
	return fx_max(low, fx_min(value, high));
}

FX_FUNCTION __u64 fx_add(__u64 a, __u64 b)
{
	return a > FX_MAX - b ? FX_MAX : a + b;
}

FX_FUNCTION __u64 fx_subtract(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

/* A count as segments. */
FX_FUNCTION __u64 fx_segments(__u64 count)
{
	return count >> 32 ? FX_MAX : count << FX_SEGMENT_BITS;
}

FX_FUNCTION struct fx_product fx_multiply(__u64 a, __u64 b)
{
	__u64 a_high = a >> 32, a_low = (__u32)a, b_high = b >> 32, b_low = (__u32)b;
	__u64 low = a_low * b_low;
	/* Neither sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1. */
	__u64 middle = a_high * b_low + (low >> 32);
	__u64 other = a_low * b_high + (__u32)middle;
	struct fx_product product = {
		.high = a_high * b_high + (middle >> 32) + (other >> 32),
		.low = (other << 32) | (__u32)low,
	};

	return product;
}

/* a b / 2^shift for 0 < shift < 64. */
FX_FUNCTION __u64 fx_multiply_shift(__u64 a, __u64 b, __u32 shift)
{
	struct fx_product product = fx_multiply(a, b);
	__u64 half = (__u64)1 << ((shift - 1) & 63);
	__u64 low = product.low + half;
	__u64 high = product.high + (low < half);

	if (high >> (shift & 63))
		return FX_MAX;
	return (high << ((64 - shift) & 63)) | (low >> (shift & 63));
}

/* value times a fraction, in the format of the value. */
FX_FUNCTION __u64 fx_scale(__u64 value, __u64 fraction)
{
	return fx_multiply_shift(value, fraction, FX_FRACTION_BITS);
}

/* value times 2^shift, rounded to nearest where shift is negative. */
FX_ROUTINE __u64 fx_shift(__u64 value, __s32 shift)
{
	__u32 right = (__u32)-shift;

	if (shift >= 0) {
		if (value == 0)
			return 0;
		if (shift > 63 || value >> ((63 - shift) & 63) > 1)
			return FX_MAX;
		return value << (shift & 63);
	}
	if (right > 64)
		return 0;
	/* The half is added after the shift by one bit less, where it cannot overflow. */
	value >>= (right - 1) & 63;
	return (value >> 1) + (value & 1);
}

/* a / b times 2^bits, within 2^-30 of it; b = 0 gives the largest value. */
FX_ROUTINE __u64 fx_quotient(__u64 a, __u64 b, __s32 bits)
{
	__s32 a_shift, b_shift;
	__u64 first, rest;

	if (a == 0)
		return 0;
	if (b == 0)
		return FX_MAX;
	/* The dividend gets 63 significant bits and the divisor 32, so that each of two digits is one
	 * division. */
	a_shift = 62 - (__s32)fx_top_bit(a);
	b_shift = 31 - (__s32)fx_top_bit(b);
	a = a_shift < 0 ? a >> 1 : a << (a_shift & 63);
	b = b_shift < 0 ? b >> (-b_shift & 63) : b << (b_shift & 63);
	b &= 0xffffffff;
	if (b == 0)
		return FX_MAX;
	first = a / b;
	rest = a % b;
	/* (a / b) 2^32 with both scaled; the scales leave through the shift. */
	return fx_shift((first << 32) + (rest << 32) / b, bits - 32 - a_shift + b_shift);
}

/* a / b as a fraction, 1 where a >= b. */
FX_FUNCTION __u64 fx_ratio(__u64 a, __u64 b)
{
	return a >= b ? FX_ONE : fx_min(fx_quotient(a, b, FX_FRACTION_BITS), FX_ONE);
}

/* The leading 64 bits of a product; `shift` says how many bits are left out behind them. */
FX_FUNCTION __u64 fx_leading(struct fx_product product, __s32 *shift)
{
	__u32 bits = product.high ? fx_top_bit(product.high) + 1 : 0;

	*shift = (__s32)bits;
	if (bits == 0)
		return product.low;
	if (bits == 64)
		return product.high;
	return (product.high << ((64 - bits) & 63)) | (product.low >> (bits & 63));
}

/* (a b) / (c d) times 2^bits. */
FX_ROUTINE __u64 fx_quotient_of_products(__u64 a, __u64 b, __u64 c, __u64 d, __s32 bits)
{
	__s32 above_shift, below_shift;
	__u64 above = fx_leading(fx_multiply(a, b), &above_shift);
	__u64 below = fx_leading(fx_multiply(c, d), &below_shift);

	return fx_quotient(above, below, bits + above_shift - below_shift);
}

/* log2 of an integer of at least 1, Q32.32, within 2^-28: the fraction's bits by repeated squaring. */
FX_ROUTINE __u64 fx_log2(__u64 value)
{
	__u32 top = fx_top_bit(value), bit;
	/* From 1 to 2, with 31 bits behind the point. */
	__u64 mantissa = top > 31 ? value >> ((top - 31) & 63) : value << ((31 - top) & 63);
	__u64 log = (__u64)top << 32, carry;

	for (bit = 31; bit > 0; bit--) {
		mantissa = (mantissa * mantissa) >> 31;
		carry = mantissa >> 32;
		mantissa >>= carry & 1;
		log |= carry << (bit & 63);
	}
	return log;
}

/* 2^-power of a Q32.32 power, as a fraction, within a relative error of 2^-26. */
FX_ROUTINE __u64 fx_exp2_negative(__u64 power)
{
	__u64 whole = power >> 32, result = FX_ONE;
	__u64 z = fx_scale((__u64)(__u32)power << 30, FX_LN2);
	__u32 term;

	if (whole > FX_FRACTION_BITS)
		return 0;
	/* e^-z = 1 - z (1 - z/2 (1 - z/3 (...))) with z below ln 2: ten terms leave 3e-9. */
	for (term = 10; term > 0; term--)
		result = FX_ONE - fx_scale(z, result) / term;
	return fx_shift(result, -(__s32)whole);
}

/* fraction^exponent, the exponent Q32.32. */
FX_ROUTINE __u64 fx_power(__u64 fraction, __u64 exponent)
{
	__u64 log;

	if (exponent == 0 || fraction >= FX_ONE)
		return FX_ONE;
	if (fraction == 0)
		return 0;
	log = ((__u64)FX_FRACTION_BITS << 32) - fx_log2(fraction);
	return fx_exp2_negative(fx_multiply_shift(log, exponent, 32));
}

/* segments^(delta-1) for a window of at least one segment and delta from 0 to 1 (a fraction). */
FX_ROUTINE __u64 fx_window_power(__u64 segments, __u64 delta)
{
	__u64 log;

	if (delta >= FX_ONE || segments <= FX_SEGMENT)
		return FX_ONE;
	log = fx_log2(segments) - ((__u64)FX_SEGMENT_BITS << 32);
	return fx_exp2_negative(fx_scale(log, FX_ONE - delta));
}

/* 1 / window as a fraction; 1 below a window of one segment. */
FX_FUNCTION __u64 fx_inverse(__u64 segments)
{
	return fx_ratio(FX_SEGMENT, segments);
}

/* DCTCP's estimate: alpha + g (share - alpha), all fractions. */
FX_FUNCTION __u64 fx_average(__u64 alpha, __u64 share, __u64 g)
{
	if (share >= alpha)
		return fx_min(alpha + fx_scale(share - alpha, g), FX_ONE);
	return alpha - fx_scale(alpha - share, g);
}

#endif
