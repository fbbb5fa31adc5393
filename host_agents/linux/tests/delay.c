/* Runs Swift and TIMELY on sequences of events, for delay.rs. A request is a word that names it and its words. */
#include <stdio.h>
#include <stdlib.h>

#include "p4cc_delay.h"

#define START 0
#define ACK 1
#define LOSS 2
#define TIMEOUT 3
#define FLUSH 4

static struct p4cc_delay_params params;
static struct p4cc_delay_flow flow;

static void take(__u64 *words, size_t count)
{
	if (fread(words, sizeof(*words), count, stdin) != count)
		exit(1);
}

static void on_ack(void)
{
	__u64 words[7];

	take(words, 7);
	struct p4cc_delay_ack ack = {
		.now_ns = words[0],
		.rtt_ns = words[1],
		.sent_rate = words[2],
		.ack = (__u32)words[3],
		.snd_nxt = (__u32)words[4],
		.new_segments = (__u32)words[5],
		.hops = (__u32)words[6],
	};
	p4cc_delay_on_ack(&params, &flow, &ack);
}

static void run(__u64 request)
{
	__u64 word;

	switch (request) {
	case START:
		take((__u64 *)&params, sizeof(params) / sizeof(__u64));
		take(&word, 1);
		p4cc_delay_start(&params, &flow, (__u32)word);
		break;
	case ACK:
		on_ack();
		break;
	case LOSS:
		take(&word, 1);
		p4cc_delay_on_loss(&params, &flow, word);
		break;
	case TIMEOUT:
		take(&word, 1);
		p4cc_delay_on_timeout(&params, &flow, word);
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
		__u64 answer[2] = {p4cc_delay_window(&params, &flow), p4cc_delay_rate(&params, &flow)};

		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
