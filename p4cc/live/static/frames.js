// When figures are drawn: one a frame, none more often than its interval, none while nobody looks at the page.

// A figure takes at most this part of the time: a slow machine draws it less often, and stays at hand.
const REST = 10;

const waiting = new Map(); // draw -> { least_ms, interval_ms, last_ms, asked }
let scheduled = false;

function frame(now_ms) {
  scheduled = false;
  let first = null;
  for (const [draw, entry] of waiting) {
    if (!entry.asked || now_ms < entry.last_ms + entry.interval_ms) continue;
    if (!first || entry.last_ms < first[1].last_ms) first = [draw, entry];
  }
  if (first) {
    const [draw, entry] = first;
    Object.assign(entry, { asked: false, last_ms: now_ms });
    const began_ms = performance.now();
    draw();
    entry.interval_ms = Math.max(entry.least_ms, (performance.now() - began_ms) * REST);
  }
  schedule();
}

/** Sleeps until the next figure is due: an animation frame that draws nothing would cost too. */
function schedule() {
  const due_ms = [...waiting.values()].filter((entry) => entry.asked).map((entry) => entry.last_ms + entry.interval_ms);
  if (scheduled || due_ms.length === 0) return;
  scheduled = true;
  const wait_ms = Math.min(...due_ms) - performance.now();
  if (wait_ms > 0) setTimeout(() => requestAnimationFrame(frame), wait_ms);
  else requestAnimationFrame(frame);
}

/** A function that asks for `draw`, which then runs in a later frame, at most once within `least_ms`. */
export function throttled(draw, least_ms) {
  const entry = { least_ms, interval_ms: least_ms, last_ms: -Infinity, asked: false };
  waiting.set(draw, entry);
  return () => {
    entry.asked = true;
    schedule();
  };
}
