/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * Slow starts: standard, GST, RFB-SS, limited, smooth and P-start (docs/algorithms/slow-start.md and the
 * file of each in host_agents/cc/src). */
#ifndef P4CC_SLOW_START_H
#define P4CC_SLOW_START_H

#include "p4cc_types.h"

/* Growth of `count` segments of `share` each. An ACK of several segments stops at the threshold, one of a
 * single segment grows by its whole share. */
FX_FUNCTION void p4cc_grow_to_threshold(struct p4cc_flow *flow, __u32 count, __u64 share)
{
	__u64 one = fx_add(flow->cwnd, fx_shift(share, FX_SEGMENT_BITS - FX_FRACTION_BITS));
	__u64 most = fx_max(flow->ssthresh, one);

	if (count == 0)
		return;
	p4cc_add_cwnd(flow, count, share);
	if (flow->cwnd > most)
		p4cc_set_cwnd(flow, most);
}

FX_FUNCTION void p4cc_gst_open_window(struct p4cc_flow *flow, __u32 snd_nxt)
{
	flow->w_cnt = flow->beta = 0;
	flow->gst_end = snd_nxt;
	flow->w0 = flow->cwnd;
	flow->growth = fx_window_power(flow->w0, flow->delta);
}

/* docs/algorithms/slow-start.md#gst-sender: q = w K/(w - beta), delta = clamp((K_dc - q)/(K_dc - K), 0, 1).
 * The position of q between the thresholds is beta K/((w - beta)(K_dc - K)). */
FX_FUNCTION __u64 p4cc_gst_next_delta(const struct p4cc_params *params, const struct p4cc_flow *flow)
{
	__u64 span = fx_subtract(params->k_dc, params->k), position = FX_ONE;

	if (flow->beta == 0)
		return FX_ONE;
	if (flow->beta < flow->w_cnt && span > 0)
		position = fx_min(fx_quotient_of_products(flow->beta, params->k, flow->w_cnt - flow->beta, span,
							  FX_FRACTION_BITS),
				  FX_ONE);
	return params->gst_literal ? position : FX_ONE - position;
}

FX_FUNCTION void p4cc_gst_begin_smoothing(const struct p4cc_params *params, struct p4cc_flow *flow,
					  const struct p4cc_ack *ack)
{
	flow->smoothing = 1;
	switch (params->gst_entry) {
	case P4CC_ENTRY_HOLD:
		p4cc_gst_open_window(flow, ack->snd_nxt);
		flow->growth = 0;
		break;
	case P4CC_ENTRY_STOP:
		flow->growth = 0;
		break;
	case P4CC_ENTRY_PER_ACK:
		flow->growth = fx_inverse(flow->w0);
		break;
	default:
		break;
	}
}

/* Returns whether slow start goes on. */
FX_FUNCTION int p4cc_gst_on_ack(const struct p4cc_params *params, struct p4cc_flow *flow, const struct p4cc_ack *ack)
{
	if (p4cc_is_kdc(ack)) {
		p4cc_grow_to_threshold(flow, ack->new_segments, flow->growth);
		return 0;
	}
	if (p4cc_is_k(ack) && !flow->smoothing)
		p4cc_gst_begin_smoothing(params, flow, ack);
	flow->w_cnt = (__u32)fx_min((__u64)flow->w_cnt + ack->new_segments, 0xffffffff);
	flow->beta += (__u32)fx_min(ack->k_marks, ack->new_segments);
	p4cc_grow_to_threshold(flow, ack->new_segments, flow->growth);
	if (p4cc_after(ack->ack, flow->gst_end)) {
		flow->delta = p4cc_gst_next_delta(params, flow);
		flow->smoothing = flow->beta > 0;
		p4cc_gst_open_window(flow, ack->snd_nxt);
	}
	return 1;
}

/* docs/algorithms/slow-start.md#rfb-ss: k = RTT/(RTT_max + RTT), at most one half. */
FX_FUNCTION __u64 p4cc_rise_share(const struct p4cc_params *params, const struct p4cc_ack *ack)
{
	__u64 rtt_ns = params->rtt_ns ? params->rtt_ns : ack->srtt_ns;

	/* P-start has one half for every round trip, RFB-SS for one that is not measured yet. */
	if (params->slow_start == P4CC_P_START || rtt_ns == 0)
		return FX_ONE / 2;
	return fx_min(fx_ratio(rtt_ns, fx_add(params->rtt_max_ns, rtt_ns)), FX_ONE / 2);
}

/* Windows this close to a bound have reached it: a sum of rounded steps may end just below. */
#define P4CC_REACHED (FX_SEGMENT >> 16)

/* What the round that begins now adds to the window. */
FX_FUNCTION __u64 p4cc_round_increment(const struct p4cc_params *params, struct p4cc_flow *flow,
				       const struct p4cc_ack *ack)
{
	__u64 missing = fx_subtract(flow->ssthresh, flow->cwnd);

	/* docs/algorithms/slow-start.md#choice-rfb-ss-half: at half exactly the slow branch. */
	if (flow->cwnd + P4CC_REACHED < flow->ssthresh / 2)
		return flow->cwnd;
	if (flow->slow_rounds < 0xffff)
		flow->slow_rounds++;
	if (params->slow_start == P4CC_SMOOTH)
		return fx_min(flow->cwnd / (flow->slow_rounds + 1), missing);
	if (missing > params->delta + P4CC_REACHED)
		return fx_scale(missing, p4cc_rise_share(params, ack));
	return missing;
}

/* docs/algorithms/slow-start.md#rfb-ss, "per ACK": each segment acknowledged adds inc/W0, the last ACK the
 * rest. */
FX_FUNCTION void p4cc_round_on_ack(const struct p4cc_params *params, struct p4cc_flow *flow, const struct p4cc_ack *ack)
{
	__u64 share, grown;

	if (ack->new_segments == 0)
		return;
	if (p4cc_after(ack->ack, flow->round_end)) {
		flow->round_end = ack->snd_nxt;
		flow->round_increment = p4cc_round_increment(params, flow, ack);
		flow->round_w0 = flow->cwnd;
		flow->round_acked = 0;
	}
	flow->round_acked = (__u32)fx_min((__u64)flow->round_acked + ack->new_segments, 0xffffffff);
	share = flow->round_acked >= flow->round_w0 >> FX_SEGMENT_BITS
			? FX_ONE
			: fx_ratio(fx_segments(flow->round_acked), flow->round_w0);
	grown = fx_add(flow->round_w0, fx_scale(flow->round_increment, share));
	if (grown > flow->cwnd)
		p4cc_set_cwnd(flow, grown);
}

/* docs/algorithms/slow-start.md#limited: "+1/K with K = int(cwnd/(0.5 max_ssthresh))". */
FX_FUNCTION void p4cc_limited_on_ack(const struct p4cc_params *params, struct p4cc_flow *flow,
				     const struct p4cc_ack *ack)
{
	__u64 half = params->max_ssthresh / 2, divisor = 1;

	if (flow->cwnd > params->max_ssthresh && half > 0)
		divisor = fx_max((flow->cwnd + P4CC_REACHED) / half, 1);
	if (ack->new_segments > 0)
		flow->smoothing = flow->cwnd > params->max_ssthresh;
	p4cc_grow_to_threshold(flow, p4cc_growing_segments(params, ack), FX_ONE / divisor);
}

FX_FUNCTION void p4cc_slow_start_enter(const struct p4cc_params *params, struct p4cc_flow *flow, __u32 snd_nxt)
{
	flow->delta = FX_ONE;
	flow->smoothing = params->slow_start == P4CC_LIMITED && flow->cwnd > params->max_ssthresh;
	p4cc_gst_open_window(flow, snd_nxt);
	flow->round_end = snd_nxt;
	flow->round_w0 = FX_SEGMENT;
	flow->round_increment = 0;
	flow->round_acked = 0;
	flow->slow_rounds = 0;
}

/* Returns whether slow start goes on; the threshold ends it apart from this. */
FX_FUNCTION int p4cc_slow_start_on_ack(const struct p4cc_params *params, struct p4cc_flow *flow,
				       const struct p4cc_ack *ack)
{
	switch (params->slow_start) {
	case P4CC_GST:
		return p4cc_gst_on_ack(params, flow, ack);
	case P4CC_RFB_SS:
	case P4CC_SMOOTH:
	case P4CC_P_START:
		p4cc_round_on_ack(params, flow, ack);
		return 1;
	case P4CC_LIMITED:
		p4cc_limited_on_ack(params, flow, ack);
		return 1;
	default:
		p4cc_grow_to_threshold(flow, p4cc_growing_segments(params, ack), FX_ONE);
		return 1;
	}
}

/* Whether slow start is in its slower part. */
FX_FUNCTION int p4cc_slow_start_is_slow(const struct p4cc_params *params, const struct p4cc_flow *flow)
{
	switch (params->slow_start) {
	case P4CC_GST:
	case P4CC_LIMITED:
		return flow->smoothing;
	case P4CC_RFB_SS:
	case P4CC_SMOOTH:
	case P4CC_P_START:
		return flow->slow_rounds > 0;
	default:
		return 0;
	}
}

#endif
