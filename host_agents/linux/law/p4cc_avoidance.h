/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * Congestion avoidance: Reno with ECN, DCTCP, D2TCP and L2TCP (docs/algorithms/window.md;
 * host_agents/cc/src/alpha.rs and the file of each sender). */
#ifndef P4CC_AVOIDANCE_H
#define P4CC_AVOIDANCE_H

#include "p4cc_types.h"

/* docs/algorithms/window.md#reno-ecn and #l2tcp: "max(cwnd/2, 2)", "ssthresh = max(cwnd, 2)". */
#define P4CC_TWO_SEGMENTS (2 * FX_SEGMENT)

FX_FUNCTION void p4cc_avoidance_start(const struct p4cc_params *params, struct p4cc_flow *flow, __u32 snd_nxt)
{
	flow->alpha = params->alpha0;
	flow->acked = flow->marked = 0;
	flow->win_end = flow->cwr_end = snd_nxt;
	flow->in_run = flow->run_begins = 0;
}

/* docs/algorithms/window.md#dctcp-sender: "acked += max(n_new, 1)"; at the end of a window the new alpha. */
FX_FUNCTION void p4cc_observe(const struct p4cc_params *params, struct p4cc_flow *flow, const struct p4cc_ack *ack)
{
	__u32 counted = ack->new_segments ? ack->new_segments : 1;
	__u32 marked = p4cc_is_kdc(ack);

	flow->run_begins = marked && !flow->in_run;
	flow->in_run = marked;
	/* An observation window has fewer packets than 2^31; a count that wraps would lose its marks. */
	flow->acked = (__u32)fx_min((__u64)flow->acked + counted, 0xffffffff);
	flow->marked += (__u32)fx_min(ack->kdc_marks, counted);
	if (!p4cc_after(ack->ack, flow->win_end))
		return;
	flow->alpha = fx_average(flow->alpha, fx_ratio(flow->marked, flow->acked), params->g);
	flow->acked = flow->marked = 0;
	flow->win_end = ack->snd_nxt;
}

FX_FUNCTION int p4cc_is_frozen(const struct p4cc_params *params, const struct p4cc_flow *flow,
			       const struct p4cc_ack *ack)
{
	switch (params->cwr_freeze) {
	case P4CC_FREEZE_FIRST_MARK:
		return flow->run_begins;
	case P4CC_FREEZE_ON:
		return !p4cc_after(ack->ack, flow->cwr_end);
	default:
		return 0;
	}
}

/* docs/algorithms/window.md#d2tcp: "d = clamp(T_c/D, 0.5, 2.0)". */
FX_FUNCTION __u64 p4cc_d2tcp_exponent(const struct p4cc_params *params, const struct p4cc_flow *flow,
				      const struct p4cc_ack *ack)
{
	__u64 exponent, mean_window = flow->cwnd - flow->cwnd / 4;

	if (ack->deadline_ns == 0)
		return FX_SEGMENT;
	if (ack->now_ns >= ack->deadline_ns)
		return params->d_late;
	if (ack->segments_left == P4CC_NO_END)
		return FX_SEGMENT;
	if (ack->segments_left == 0)
		return params->d_min;
	if (ack->srtt_ns == 0)
		return FX_SEGMENT;
	/* The segments left have 16 bits behind the point and the window 32, the exponent 32. */
	exponent = fx_quotient_of_products(ack->segments_left, ack->srtt_ns, mean_window,
					   ack->deadline_ns - ack->now_ns, 48);
	exponent = fx_clamp(exponent, params->d_min, params->d_max);
	if (params->d_step == 0)
		return exponent;
	return fx_max(exponent - exponent % params->d_step, params->d_min);
}

/* docs/algorithms/window.md#l2tcp: w_max up to s1, falling linearly to w_min at s2. */
FX_FUNCTION __u64 p4cc_l2tcp_weight(const struct p4cc_params *params, const struct p4cc_ack *ack)
{
	__u64 sent = ack->sent_segments >> 48 ? FX_MAX : ack->sent_segments << 16;

	if (sent <= params->s1)
		return params->w_max;
	if (sent >= params->s2)
		return params->w_min;
	return params->w_max -
	       fx_scale(fx_subtract(params->w_max, params->w_min), fx_ratio(sent - params->s1, params->s2 - params->s1));
}

/* The fraction whose half a cut takes off the window. */
FX_FUNCTION __u64 p4cc_penalty(const struct p4cc_params *params, const struct p4cc_flow *flow,
			       const struct p4cc_ack *ack)
{
	__u64 exponent;

	switch (params->sender) {
	case P4CC_RENO_ECN:
		return FX_ONE;
	case P4CC_D2TCP:
		exponent = p4cc_d2tcp_exponent(params, flow, ack);
		break;
	case P4CC_L2TCP:
		exponent = p4cc_l2tcp_weight(params, ack);
		break;
	default:
		return flow->alpha;
	}
	return exponent == FX_SEGMENT ? flow->alpha : fx_power(flow->alpha, exponent);
}

/* Answers the marks of an ACK, at most once in a window; returns whether it cut. */
FX_FUNCTION int p4cc_react(const struct p4cc_params *params, struct p4cc_flow *flow, const struct p4cc_ack *ack)
{
	__u64 floor = params->sender == P4CC_RENO_ECN ? P4CC_TWO_SEGMENTS : params->cwnd_min;

	if (!p4cc_is_kdc(ack) || !p4cc_after(ack->ack, flow->cwr_end))
		return 0;
	/* docs/algorithms/window.md#dctcp-sender: "cwnd = max(cwnd (1 - alpha/2), cwnd_min), ssthresh = cwnd". */
	p4cc_set_cwnd(flow, fx_max(fx_scale(flow->cwnd, FX_ONE - p4cc_penalty(params, flow, ack) / 2), floor));
	p4cc_set_ssthresh(flow, flow->cwnd);
	if (params->sender == P4CC_L2TCP)
		p4cc_set_ssthresh(flow, fx_max(flow->cwnd, P4CC_TWO_SEGMENTS));
	flow->cwr_end = ack->snd_nxt;
	return 1;
}

/* docs/algorithms/window.md#reno-rules: "cwnd += 1/cwnd"; #l2tcp: "(w_c/w_max)/cwnd". */
FX_FUNCTION void p4cc_grow_in_avoidance(const struct p4cc_params *params, struct p4cc_flow *flow,
					const struct p4cc_ack *ack)
{
	__u64 share = fx_inverse(flow->cwnd);

	if (params->sender != P4CC_RENO_ECN && p4cc_is_frozen(params, flow, ack))
		return;
	if (params->sender == P4CC_L2TCP)
		share = fx_scale(share, fx_ratio(p4cc_l2tcp_weight(params, ack), params->w_max));
	p4cc_add_cwnd(flow, p4cc_growing_segments(params, ack), share);
}

/* RFC3168 6.1.2 has no growth on an ACK that echoes congestion; DCTCP's family grows behind the cut, as
 * ns-2 does. */
FX_FUNCTION int p4cc_grows_after_cut(const struct p4cc_params *params, const struct p4cc_flow *flow,
				     const struct p4cc_ack *ack)
{
	return params->sender != P4CC_RENO_ECN && !p4cc_is_frozen(params, flow, ack);
}

#endif
