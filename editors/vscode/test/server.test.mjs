// 200 keystrokes in a program: each is answered, and the program is right again behind them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, Session, keystrokes } from "./server.mjs";

const PROGRAM = join(ROOT, "p4src", "v1model", "ecn_dual.p4");

test("the server follows 200 keystrokes", async () => {
  const text = readFileSync(PROGRAM, "utf8");
  const session = new Session(PROGRAM, text);
  const answer = await session.start();
  assert.equal(answer.capabilities.textDocumentSync.change, 2);
  let [typed, start] = [0, 0];
  let offered = 0;
  for (const { at, taken, written } of keystrokes(text, 200)) {
    if (taken === -1) {
      await session.edit(start, typed, "");
      const diagnostics = await session.diagnostics();
      assert.deepEqual(diagnostics, []);
      typed = 0;
      continue;
    }
    start = typed === 0 ? at : start;
    const position = await session.edit(at, taken, written);
    typed += 1;
    const found = await session.ask("completion", position);
    offered += written === "." && found.items.length > 0 ? 1 : 0;
  }
  assert.equal(session.text.length, text.length);
  assert.ok(offered > 0);
  assert.equal(await session.end(), 0);
});
