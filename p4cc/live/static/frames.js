// When figures are drawn: one a frame, none more often than its interval, none while nobody looks at the page.

const waiting = new Map(); // draw -> { interval_ms, last_ms, asked }
let scheduled = false;

function frame(now_ms) {
  scheduled = false;
  let first = null;
  for (const [draw, entry] of waiting) {
    if (!entry.asked || now_ms - entry.last_ms < entry.interval_ms) continue;
    if (!first || entry.last_ms < first[1].last_ms) first = [draw, entry];
  }
  if (first) {
    const [draw, entry] = first;
    Object.assign(entry, { asked: false, last_ms: now_ms });
    draw();
  }
  if ([...waiting.values()].some((entry) => entry.asked)) schedule();
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

/** A function that asks for `draw`, which then runs in a later frame, at most once within `interval_ms`. */
export function throttled(draw, interval_ms) {
  const entry = { interval_ms, last_ms: -Infinity, asked: false };
  waiting.set(draw, entry);
  return () => {
    entry.asked = true;
    schedule();
  };
}
