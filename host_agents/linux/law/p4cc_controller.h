/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * The controller of one flow, as host_agents/cc/src/controller.rs: which rules govern the window. */
#ifndef P4CC_CONTROLLER_H
#define P4CC_CONTROLLER_H

#include "p4cc_avoidance.h"
#include "p4cc_slow_start.h"

FX_FUNCTION void p4cc_leave_at_threshold(struct p4cc_flow *flow)
{
	if (flow->mode == P4CC_IN_SLOW_START && flow->cwnd + P4CC_REACHED / 2 >= flow->ssthresh)
		flow->mode = P4CC_IN_AVOIDANCE;
}

/* A flow begins at byte `snd_nxt`. */
FX_FUNCTION void p4cc_start(const struct p4cc_params *params, struct p4cc_flow *flow, __u32 snd_nxt)
{
	flow->ceiling = fx_clamp(params->ceiling, FX_SEGMENT, P4CC_MAX_WINDOW);
	p4cc_set_cwnd(flow, params->initial_window);
	p4cc_set_ssthresh(flow, params->initial_ssthresh);
	flow->mode = P4CC_IN_SLOW_START;
	flow->has_timed_out = flow->timed_out = 0;
	p4cc_avoidance_start(params, flow, snd_nxt);
	p4cc_slow_start_enter(params, flow, snd_nxt);
	p4cc_leave_at_threshold(flow);
}

/* The ACK that cut the window grows it too: by the slow start that it ends where that has a law for it. */
FX_FUNCTION void p4cc_grow_after_cut(const struct p4cc_params *params, struct p4cc_flow *flow,
				     const struct p4cc_ack *ack, __u32 was)
{
	if (was == P4CC_IN_SLOW_START && params->slow_start == P4CC_GST)
		p4cc_grow_to_threshold(flow, ack->new_segments, flow->growth);
	else
		p4cc_grow_in_avoidance(params, flow, ack);
}

FX_FUNCTION void p4cc_grow_in_slow_start(const struct p4cc_params *params, struct p4cc_flow *flow,
					 const struct p4cc_ack *ack, __u64 before)
{
	int continues = p4cc_slow_start_on_ack(params, flow, ack);

	if (ack->is_unvalidated && flow->cwnd > before)
		p4cc_set_cwnd(flow, before);
	if (continues) {
		p4cc_leave_at_threshold(flow);
	} else {
		p4cc_set_ssthresh(flow, flow->cwnd);
		flow->mode = P4CC_IN_AVOIDANCE;
	}
}

/* Takes one ACK; returns whether the window was cut. */
FX_FUNCTION int p4cc_on_ack(const struct p4cc_params *params, struct p4cc_flow *flow, const struct p4cc_ack *ack)
{
	__u32 was = flow->mode;
	__u64 before;
	int cut;

	p4cc_observe(params, flow, ack);
	if (was == P4CC_IN_RECOVERY)
		return 0;
	cut = p4cc_react(params, flow, ack);
	before = flow->cwnd;
	if (cut) {
		flow->mode = P4CC_IN_AVOIDANCE;
		if (ack->new_segments > 0 && p4cc_grows_after_cut(params, flow, ack))
			p4cc_grow_after_cut(params, flow, ack, was);
	} else if (was == P4CC_IN_SLOW_START) {
		p4cc_grow_in_slow_start(params, flow, ack, before);
		return 0;
	} else if (ack->new_segments > 0) {
		p4cc_grow_in_avoidance(params, flow, ack);
	}
	if (ack->is_unvalidated && flow->cwnd > before)
		p4cc_set_cwnd(flow, before);
	return cut;
}

/* docs/algorithms/window.md#reno-rules: "ssthresh = max(flight/2, 2)". */
FX_FUNCTION void p4cc_set_ssthresh_after_loss(struct p4cc_flow *flow, __u32 flight_segments)
{
	p4cc_set_ssthresh(flow, fx_max(fx_segments(flight_segments) / 2, P4CC_TWO_SEGMENTS));
}

/* RFC6675: cwnd = ssthresh until the recovery is over. */
FX_FUNCTION void p4cc_on_fast_retransmit(struct p4cc_flow *flow, __u32 flight_segments)
{
	p4cc_set_ssthresh_after_loss(flow, flight_segments);
	p4cc_set_cwnd(flow, flow->ssthresh);
	flow->mode = P4CC_IN_RECOVERY;
}

FX_FUNCTION void p4cc_on_recovery_exit(struct p4cc_flow *flow)
{
	p4cc_set_cwnd(flow, flow->ssthresh);
	flow->mode = P4CC_IN_AVOIDANCE;
}

/* RFC5681 3.1: for a segment that the timer sent again already, "the value of ssthresh is held constant". */
FX_FUNCTION void p4cc_on_timeout(const struct p4cc_params *params, struct p4cc_flow *flow, __u32 flight_segments,
				 __u32 snd_una)
{
	if (!flow->has_timed_out || flow->timed_out != snd_una)
		p4cc_set_ssthresh_after_loss(flow, flight_segments);
	flow->has_timed_out = 1;
	flow->timed_out = snd_una;
	p4cc_set_cwnd(flow, FX_SEGMENT);
	flow->mode = P4CC_IN_SLOW_START;
	p4cc_slow_start_enter(params, flow, snd_una);
}

/* What a flow does, in the order of host_agents/cc/src/event.rs. */
#define P4CC_PHASE_SLOW_START 0
#define P4CC_PHASE_SMOOTHING 1
#define P4CC_PHASE_AVOIDANCE 2
#define P4CC_PHASE_RECOVERY 3

FX_FUNCTION __u32 p4cc_phase(const struct p4cc_params *params, const struct p4cc_flow *flow)
{
	if (flow->mode == P4CC_IN_AVOIDANCE)
		return P4CC_PHASE_AVOIDANCE;
	if (flow->mode == P4CC_IN_RECOVERY)
		return P4CC_PHASE_RECOVERY;
	return p4cc_slow_start_is_slow(params, flow) ? P4CC_PHASE_SMOOTHING : P4CC_PHASE_SLOW_START;
}

#endif
