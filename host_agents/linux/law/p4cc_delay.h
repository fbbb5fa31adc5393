/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * Senders that follow the round-trip time: Swift and TIMELY (docs/algorithms/swift.md, timely.md;
 * host_agents/cc/src/rate/swift.rs and timely.rs). Rates are bit/s with 16 bits behind the point, times with
 * "fine" in their name nanoseconds with 16 bits behind the point. */
#ifndef P4CC_DELAY_H
#define P4CC_DELAY_H

#include "p4cc_fixed.h"

/* Values of `sender`. */
#define P4CC_SWIFT 0
#define P4CC_TIMELY 1

/* Values of `hai_counts` (docs/algorithms/timely.md#choice-timely-hai). */
#define P4CC_HAI_GRADIENT 0
#define P4CC_HAI_EVERY_BRANCH 1
#define P4CC_HAI_EVERY 2
#define P4CC_HAI_RAW 3

#define P4CC_FINE_BITS 16
#define P4CC_RATE_BITS 16

/* Parameters of one sender, each 64 bits wide, as those of struct p4cc_params. */
struct p4cc_delay_params {
	__u64 sender;
	__u64 line_rate;
	__u64 min_rate;
	__u64 base_rtt_ns;
	__u64 packet_bits;
	__u64 ai;   /* segments */
	__u64 beta; /* fraction */
	__u64 max_mdf; /* fraction */
	__u64 base_target_fine;
	__u64 hop_fine;
	__u64 fs_range_fine;
	__u64 fs_scale_fine;
	__u64 fs_offset_fine;
	__u64 min_cwnd;	    /* segments */
	__u64 max_cwnd;	    /* segments */
	__u64 initial_cwnd; /* segments */
	__u64 retx_reset_threshold;
	__u64 ewma; /* fraction */
	__u64 t_low_ns;
	__u64 t_high_ns;
	__u64 min_rtt_ns;
	__u64 step_rate;
	__u64 hyper_step_rate;
	__u64 hai_trigger;
	__u64 hai_counts;
	__u64 scale_by_time;
	__u64 max_cut; /* fraction */
	__u64 patched;
	__u64 once_per_window;
	__u64 app_limit; /* fraction */
	__u64 start_rate;
	/* Segments in flight at the line rate; 0: the rate alone decides. */
	__u64 window_max;
};

/* What an ACK says. */
struct p4cc_delay_ack {
	__u64 now_ns;
	/* 0: no sample. */
	__u64 rtt_ns;
	/* The rate at which an application that is slower than its sender sent; the largest value for others. */
	__u64 sent_rate;
	__u32 ack;
	__u32 snd_nxt;
	__u32 new_segments;
	__u32 hops;
};

struct p4cc_delay_flow {
	/* Swift: segments, and the smoothed round-trip time. */
	__u64 cwnd;
	__u64 srtt_fine;
	__u64 last_decrease_ns;
	/* TIMELY: the rate, the last sample, the smoothed difference between samples (its size, Q32.32 ns). */
	__u64 rate;
	__u64 prev_rtt_ns;
	__u64 difference;
	__u64 updated_ns;
	__u32 is_falling;
	__u32 in_a_row;
	__u32 window_end;
	__u32 has_sample;
	__u32 has_decreased;
	__u32 timeouts_in_row;
};

/* ---- Swift ------------- */

/* docs/algorithms/swift.md#swift-target. The window has 32 bits behind the point, so its inverse root is that of the
 * whole number times 2^16. */
FX_FUNCTION __u64 p4cc_swift_target(const struct p4cc_delay_params *params, const struct p4cc_delay_flow *flow,
				    __u32 hops)
{
	__u64 root = fx_exp2_negative(fx_log2(flow->cwnd ? flow->cwnd : 1) / 2);
	__u64 scaled = fx_multiply_shift(params->fs_scale_fine, root, FX_FRACTION_BITS - FX_SEGMENT_BITS / 2);
	__u64 of_window = fx_min(fx_subtract(scaled, params->fs_offset_fine), params->fs_range_fine);

	return params->base_target_fine + hops * params->hop_fine + of_window;
}

/* "at most once in a round trip". */
FX_FUNCTION void p4cc_swift_decrease(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow, __u64 now_ns,
				     __u64 share)
{
	/* Rounded up: whole nanoseconds are below the finer time. */
	__u64 srtt_ns = (flow->srtt_fine + (1 << P4CC_FINE_BITS) - 1) >> P4CC_FINE_BITS;

	if (flow->has_decreased && now_ns - flow->last_decrease_ns < srtt_ns)
		return;
	flow->cwnd = fx_max(fx_scale(flow->cwnd, FX_ONE - fx_min(share, params->max_mdf)), params->min_cwnd);
	flow->last_decrease_ns = now_ns;
	flow->has_decreased = 1;
}

FX_FUNCTION void p4cc_swift_on_ack(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				   const struct p4cc_delay_ack *ack)
{
	__u64 delay, target, step;

	if (ack->new_segments)
		flow->timeouts_in_row = 0;
	if (!ack->rtt_ns)
		return;
	delay = fx_min(ack->rtt_ns, (__u64)1 << 44) << P4CC_FINE_BITS;
	target = p4cc_swift_target(params, flow, ack->hops);
	if (delay < target) {
		step = fx_quotient_of_products(fx_segments(ack->new_segments), params->ai,
					       fx_max(flow->cwnd, FX_SEGMENT), FX_SEGMENT, FX_SEGMENT_BITS);
		flow->cwnd = fx_min(fx_add(flow->cwnd, step), params->max_cwnd);
	} else {
		p4cc_swift_decrease(params, flow, ack->now_ns,
				    fx_scale(params->beta, fx_ratio(delay - target, delay)));
	}
	/* docs/algorithms/window.md#reno-rules: 7/8 srtt + 1/8 R. */
	flow->srtt_fine = flow->has_sample ? (7 * flow->srtt_fine + delay) / 8 : delay;
	flow->has_sample = 1;
}

FX_FUNCTION void p4cc_swift_on_timeout(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				       __u64 now_ns)
{
	if (flow->timeouts_in_row < 0xffffffff)
		flow->timeouts_in_row++;
	if (flow->timeouts_in_row < params->retx_reset_threshold) {
		p4cc_swift_decrease(params, flow, now_ns, params->max_mdf);
		return;
	}
	flow->cwnd = params->min_cwnd;
	flow->last_decrease_ns = now_ns;
	flow->has_decreased = 1;
}

/* "Below that, one packet leaves every srtt/cwnd." */
FX_FUNCTION __u64 p4cc_swift_rate(const struct p4cc_delay_params *params, const struct p4cc_delay_flow *flow)
{
	__u64 per_second = params->packet_bits * 1000000000, srtt = fx_max(flow->srtt_fine, 1 << P4CC_FINE_BITS);

	if (flow->cwnd >= FX_SEGMENT)
		return params->line_rate;
	/* The window has 32 bits behind the point and the round-trip time 16; the rate has 16. */
	return fx_min(fx_quotient_of_products(per_second, flow->cwnd, srtt, 1,
					      P4CC_RATE_BITS + P4CC_FINE_BITS - FX_SEGMENT_BITS),
		      params->line_rate);
}

/* ---- TIMELY ------------ */

FX_FUNCTION void p4cc_timely_set(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow, __u64 rate)
{
	flow->rate = fx_clamp(rate, params->min_rate, params->line_rate);
}

FX_FUNCTION int p4cc_hai_by_sample(const struct p4cc_delay_params *params)
{
	return params->hai_counts == P4CC_HAI_EVERY_BRANCH || params->hai_counts == P4CC_HAI_RAW;
}

FX_FUNCTION void p4cc_timely_count(struct p4cc_delay_flow *flow, int goes_on)
{
	flow->in_a_row = goes_on ? (__u32)fx_min((__u64)flow->in_a_row + 1, 0xffffffff) : 0;
}

/* "Raise R only if the measured send rate exceeds 80 % of R." */
FX_FUNCTION int p4cc_timely_is_limited(const struct p4cc_delay_params *params, const struct p4cc_delay_flow *flow,
				       const struct p4cc_delay_ack *ack)
{
	return ack->sent_rate != FX_MAX && ack->sent_rate <= fx_scale(flow->rate, params->app_limit);
}

FX_FUNCTION void p4cc_timely_increase(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				      const struct p4cc_delay_ack *ack, int by_gradient, __u64 weight)
{
	int can_be_hyper = by_gradient || params->hai_counts == P4CC_HAI_EVERY_BRANCH ||
			   params->hai_counts == P4CC_HAI_EVERY;
	__u64 step = params->step_rate;

	if (!p4cc_hai_by_sample(params))
		p4cc_timely_count(flow, can_be_hyper);
	if (p4cc_timely_is_limited(params, flow, ack))
		return;
	if (can_be_hyper && flow->in_a_row >= params->hai_trigger)
		step = params->hyper_step_rate;
	p4cc_timely_set(params, flow, fx_add(flow->rate, fx_scale(step, weight)));
}

FX_FUNCTION void p4cc_timely_decrease(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				      __u64 cut)
{
	if (!p4cc_hai_by_sample(params))
		p4cc_timely_count(flow, 0);
	p4cc_timely_set(params, flow, fx_scale(flow->rate, FX_ONE - fx_min(cut, params->max_cut)));
}

/* docs/algorithms/timely.md#timely-variants, patched TIMELY: "w = clamp(2 grad + 1/2, 0, 1)", "R = delta (1 - w) +
 * R (1 - 0.008 w err)". */
FX_FUNCTION void p4cc_timely_follow_patched(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
					    const struct p4cc_delay_ack *ack, __u64 weight)
{
	const __u64 patched_beta = FX_ONE / 1000 * 8;
	__u64 twice = fx_quotient(flow->difference, params->min_rtt_ns, FX_FRACTION_BITS - 32 + 1), w, step, cut = 0;

	if (flow->is_falling)
		w = fx_subtract(FX_ONE / 2, twice);
	else
		w = fx_min(fx_add(FX_ONE / 2, twice), FX_ONE);
	if (params->t_low_ns)
		cut = fx_quotient_of_products(ack->rtt_ns - params->t_low_ns, fx_scale(patched_beta, w),
					      params->t_low_ns, 1, 0);
	p4cc_timely_count(flow, 0);
	step = p4cc_timely_is_limited(params, flow, ack) ? 0
							 : fx_scale(fx_scale(params->step_rate, weight), FX_ONE - w);
	cut = fx_min(cut, params->max_cut);
	p4cc_timely_set(params, flow, fx_add(step, fx_scale(flow->rate, FX_ONE - cut)));
}

/* The smoothed difference of samples: (1 - ewma) difference + ewma (rtt - previous). */
FX_FUNCTION void p4cc_timely_smooth(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow, __u64 rtt_ns)
{
	__u32 falls = rtt_ns < flow->prev_rtt_ns;
	__u64 change = falls ? flow->prev_rtt_ns - rtt_ns : rtt_ns - flow->prev_rtt_ns;
	__u64 kept = fx_scale(flow->difference, FX_ONE - params->ewma);
	__u64 more = fx_scale(fx_segments(change), params->ewma);

	if (flow->is_falling == falls) {
		flow->difference = fx_add(kept, more);
	} else if (more > kept) {
		flow->difference = more - kept;
		flow->is_falling = falls;
	} else {
		flow->difference = kept - more;
	}
}

/* docs/algorithms/timely.md#timely-update. */
FX_FUNCTION void p4cc_timely_update(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				    const struct p4cc_delay_ack *ack)
{
	__u64 weight = params->scale_by_time ? fx_ratio(ack->now_ns - flow->updated_ns, params->min_rtt_ns) : FX_ONE;
	__u64 rtt_ns = ack->rtt_ns, previous = flow->prev_rtt_ns;
	int rises;

	flow->updated_ns = ack->now_ns;
	if (flow->has_sample)
		p4cc_timely_smooth(params, flow, rtt_ns);
	flow->prev_rtt_ns = rtt_ns;
	/* "First sample only sets prev_rtt." */
	if (!flow->has_sample) {
		flow->has_sample = 1;
		return;
	}
	rises = flow->difference > 0 && !flow->is_falling;
	if (params->hai_counts == P4CC_HAI_RAW)
		p4cc_timely_count(flow, rtt_ns < previous);
	else if (params->hai_counts == P4CC_HAI_EVERY_BRANCH)
		/* Queue-size mode knows no gradient. */
		p4cc_timely_count(flow, !rises && params->t_low_ns < params->t_high_ns);
	if (rtt_ns < params->t_low_ns)
		p4cc_timely_increase(params, flow, ack, 0, weight);
	else if (rtt_ns > params->t_high_ns || params->t_low_ns == params->t_high_ns)
		/* "Uses the raw sample, not the smoothed one." */
		p4cc_timely_decrease(params, flow,
				     fx_scale(fx_scale(weight, params->beta),
					      FX_ONE - fx_ratio(params->t_high_ns, rtt_ns)));
	else if (params->patched)
		p4cc_timely_follow_patched(params, flow, ack, weight);
	else if (!rises)
		p4cc_timely_increase(params, flow, ack, 1, weight);
	else
		p4cc_timely_decrease(params, flow,
				     fx_quotient_of_products(flow->difference, params->beta, params->min_rtt_ns,
							     FX_SEGMENT, 0));
}

FX_FUNCTION void p4cc_timely_on_ack(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				    const struct p4cc_delay_ack *ack)
{
	if (!ack->rtt_ns)
		return;
	if (params->once_per_window) {
		if ((__s32)(ack->ack - flow->window_end) <= 0)
			return;
		flow->window_end = ack->snd_nxt;
	}
	p4cc_timely_update(params, flow, ack);
}

/* ---- both -------------- */

FX_FUNCTION void p4cc_delay_start(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow, __u32 snd_nxt)
{
	__builtin_memset(flow, 0, sizeof(*flow));
	flow->window_end = snd_nxt;
	flow->cwnd = params->initial_cwnd;
	flow->srtt_fine = params->base_rtt_ns << P4CC_FINE_BITS;
	p4cc_timely_set(params, flow, params->start_rate);
}

FX_FUNCTION void p4cc_delay_on_ack(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				   const struct p4cc_delay_ack *ack)
{
	if (params->sender == P4CC_SWIFT)
		p4cc_swift_on_ack(params, flow, ack);
	else
		p4cc_timely_on_ack(params, flow, ack);
}

/* Losses, at most once in a round trip; TIMELY does not react to them. */
FX_FUNCTION void p4cc_delay_on_loss(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow, __u64 now_ns)
{
	flow->timeouts_in_row = 0;
	if (params->sender == P4CC_SWIFT)
		p4cc_swift_decrease(params, flow, now_ns, params->max_mdf);
}

FX_FUNCTION void p4cc_delay_on_timeout(const struct p4cc_delay_params *params, struct p4cc_delay_flow *flow,
				       __u64 now_ns)
{
	if (params->sender == P4CC_SWIFT)
		p4cc_swift_on_timeout(params, flow, now_ns);
}

FX_FUNCTION __u64 p4cc_delay_rate(const struct p4cc_delay_params *params, const struct p4cc_delay_flow *flow)
{
	return params->sender == P4CC_SWIFT ? p4cc_swift_rate(params, flow) : flow->rate;
}

/* Segments that may be in flight; the largest value where the rate alone decides. */
FX_FUNCTION __u64 p4cc_delay_window(const struct p4cc_delay_params *params, const struct p4cc_delay_flow *flow)
{
	if (params->sender == P4CC_SWIFT)
		return flow->cwnd;
	/* docs/algorithms/timely.md#timely-variants: "W = W_max R/R_max". */
	return params->window_max ? fx_scale(params->window_max, fx_ratio(flow->rate, params->line_rate)) : FX_MAX;
}

#endif
