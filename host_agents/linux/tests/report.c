/* Feeds reports of a peer, for report.rs: four words (whether the connection is new, K, K_dc, packets
 * sent) in, three (K, K_dc, refused) out. */
#include <stdio.h>
#include <string.h>

#include "p4cc_feedback.h"

int main(void)
{
	struct p4cc_feedback feedback = {0};
	__u64 words[4];

	while (fread(words, sizeof(words), 1, stdin) == 1) {
		if (words[0])
			memset(&feedback, 0, sizeof(feedback));
		p4cc_take_report(&feedback, (__u32)words[1], (__u32)words[2], (__u32)words[3]);
		words[0] = feedback.reported_k;
		words[1] = feedback.reported_kdc;
		words[2] = feedback.refused;
		if (fwrite(words, sizeof(*words), 3, stdout) != 3 || fflush(stdout))
			return 1;
	}
	return 0;
}
