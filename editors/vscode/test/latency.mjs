// Time from a keystroke to each answer: `node test/latency.mjs PROGRAM.p4...`

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { Session, keystrokes } from "./server.mjs";

const EDITS = 200;
const PAUSE_MS = 120;

function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1);
}

for (const name of process.argv.slice(2)) {
  const path = resolve(name);
  const session = new Session(path, readFileSync(path, "utf8"));
  await session.start();
  const times = { completion: [], hover: [], diagnostics: [] };
  let typed = 0;
  let start = 0;
  for (const { at, taken, written } of keystrokes(session.text, EDITS)) {
    if (taken === -1) {
      await session.edit(start, typed, "");
      await session.diagnostics();
      typed = 0;
      continue;
    }
    start = typed === 0 ? at : start;
    const begin = performance.now();
    const position = await session.edit(at, taken, written);
    typed += 1;
    const told = session.diagnostics().then(() => times.diagnostics.push(performance.now() - begin));
    await session.ask("completion", position);
    times.completion.push(performance.now() - begin);
    const asked = performance.now();
    await session.ask("hover", position);
    times.hover.push(performance.now() - asked);
    await told;
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
  await session.end();
  const lines = session.text.split("\n").length;
  for (const [what, values] of Object.entries(times)) {
    const [half, most] = [quantile(values, 0.5), quantile(values, 0.99)];
    console.log(`${name} (${lines} lines) ${what}: ${values.length} times, 50 % ${half} ms, 99 % ${most} ms`);
  }
}
