/* Answers requests of six words (function, four arguments, bits) with one: see arithmetic.rs. */
#include <stdio.h>

#include "p4cc_fixed.h"

static __u64 result(const __u64 *request)
{
	__u64 a = request[1], b = request[2], c = request[3], d = request[4];
	__s32 bits = (__s32)request[5];

	switch (request[0]) {
	case 0:
		return fx_multiply(a, b).high;
	case 1:
		return fx_multiply(a, b).low;
	case 2:
		return fx_multiply_shift(a, b, (__u32)bits);
	case 3:
		return fx_shift(a, bits);
	case 4:
		return fx_quotient(a, b, bits);
	case 5:
		return fx_quotient_of_products(a, b, c, d, bits);
	case 6:
		return fx_log2(a);
	case 7:
		return fx_exp2_negative(a);
	case 8:
		return fx_power(a, b);
	case 9:
		return fx_window_power(a, b);
	case 10:
		return fx_inverse(a);
	case 11:
		return fx_average(a, b, c);
	default:
		return fx_ratio(a, b);
	}
}

int main(void)
{
	__u64 request[6], answer;

	while (fread(request, sizeof(request), 1, stdin) == 1) {
		answer = result(request);
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1 || fflush(stdout))
			return 1;
	}
	return 0;
}
