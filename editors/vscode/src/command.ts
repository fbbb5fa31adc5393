// Where the command `p4cc` is, and which tests belong to a program: what needs no editor.

import { existsSync } from "node:fs";
import { dirname, join, parse } from "node:path";

/** The setting, or else the command of the nearest virtual environment, or else the one on PATH. */
export function findCommand(setting: string, folder: string | undefined): string {
  if (setting !== "") {
    return setting;
  }
  const name = process.platform === "win32" ? join("Scripts", "p4cc.exe") : join("bin", "p4cc");
  for (const above of foldersAbove(folder)) {
    const found = join(above, ".venv", name);
    if (existsSync(found)) {
      return found;
    }
  }
  return "p4cc";
}

function* foldersAbove(folder: string | undefined): Generator<string> {
  for (let at = folder; at !== undefined; ) {
    yield at;
    const above = dirname(at);
    at = above === at ? undefined : above;
  }
}

/** A program and the test to run on it, for either of the two; undefined where the other is missing. */
export function pairOf(file: string): { program: string; test: string } | undefined {
  const { dir, name } = parse(file);
  const pair = { program: join(dir, `${name}.p4`), test: join(dir, `${name}.stf`) };
  return existsSync(pair.program) && existsSync(pair.test) ? pair : undefined;
}
