/* Runs the senders on sequences of events, for law.rs. A request is a word that names it and its words. */
#include <stdio.h>
#include <stdlib.h>

#include "p4cc_controller.h"

#define START 0
#define ACK 1
#define FAST_RETRANSMIT 2
#define RECOVERY_EXIT 3
#define TIMEOUT 4
#define FLUSH 5

static struct p4cc_params params;
static struct p4cc_flow flow;

static void take(__u64 *words, size_t count)
{
	if (fread(words, sizeof(*words), count, stdin) != count)
		exit(1);
}

static void on_ack(void)
{
	__u64 words[11];

	take(words, 11);
	struct p4cc_ack ack = {
		.now_ns = words[0],
		.srtt_ns = words[1],
		.sent_segments = words[2],
		.segments_left = words[3],
		.deadline_ns = words[4],
		.ack = (__u32)words[5],
		.snd_nxt = (__u32)words[6],
		.new_segments = (__u32)words[7],
		.k_marks = (__u32)words[8],
		.kdc_marks = (__u32)words[9],
		.is_unvalidated = (__u32)words[10],
	};
	p4cc_on_ack(&params, &flow, &ack);
}

static void run(__u64 request)
{
	__u64 words[2];

	switch (request) {
	case START:
		take((__u64 *)&params, sizeof(params) / sizeof(__u64));
		take(words, 1);
		p4cc_start(&params, &flow, (__u32)words[0]);
		break;
	case ACK:
		on_ack();
		break;
	case FAST_RETRANSMIT:
		take(words, 1);
		p4cc_on_fast_retransmit(&flow, (__u32)words[0]);
		break;
	case RECOVERY_EXIT:
		p4cc_on_recovery_exit(&flow);
		break;
	case TIMEOUT:
		take(words, 2);
		p4cc_on_timeout(&params, &flow, (__u32)words[0], (__u32)words[1]);
		break;
	default:
		exit(1);
	}
}

int main(void)
{
	__u64 request;

	while (fread(&request, sizeof(request), 1, stdin) == 1) {
		if (request == FLUSH) {
			if (fflush(stdout))
				return 1;
			continue;
		}
		run(request);
		__u64 answer[5] = {flow.cwnd, flow.ssthresh, flow.alpha, flow.delta, p4cc_phase(&params, &flow)};

		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
