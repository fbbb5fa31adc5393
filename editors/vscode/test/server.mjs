// The server, driven over the library that Visual Studio Code's own client uses.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import rpc from "vscode-jsonrpc/node";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

function command() {
  if (process.env.P4CC !== undefined) {
    return process.env.P4CC.split(" ");
  }
  const built = join(ROOT, ".venv", "bin", "p4cc");
  return [existsSync(built) ? built : "p4cc", "lsp"];
}

/** A running server with one document. */
export class Session {
  #child;
  #connection;
  #waiting = new Map();

  constructor(path, text) {
    this.uri = pathToFileURL(path).href;
    this.text = text;
    this.version = 1;
    const [program, ...words] = command();
    this.#child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
    this.#connection = rpc.createMessageConnection(
      new rpc.StreamMessageReader(this.#child.stdout),
      new rpc.StreamMessageWriter(this.#child.stdin),
    );
    this.#connection.onNotification("textDocument/publishDiagnostics", (params) => {
      if (params.uri === this.uri) {
        this.#waiting.get(params.version)?.(params.diagnostics);
        this.#waiting.delete(params.version);
      }
    });
    this.#connection.listen();
  }

  async start() {
    const answer = await this.#connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
    await this.#connection.sendNotification("initialized", {});
    const diagnostics = this.diagnostics();
    const document = { uri: this.uri, languageId: "p4", version: this.version, text: this.text };
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument: document });
    await diagnostics;
    return answer;
  }

  /** Of the version that the document has now. */
  diagnostics() {
    return new Promise((resolve) => this.#waiting.set(this.version, resolve));
  }

  /** Writes `written` in the place of `taken` characters at `at`; the position behind it. */
  async edit(at, taken, written) {
    const range = { start: this.position(at), end: this.position(at + taken) };
    this.text = this.text.slice(0, at) + written + this.text.slice(at + taken);
    this.version += 1;
    const textDocument = { uri: this.uri, version: this.version };
    const contentChanges = [{ range, text: written }];
    await this.#connection.sendNotification("textDocument/didChange", { textDocument, contentChanges });
    return this.position(at + written.length);
  }

  ask(method, position) {
    return this.#connection.sendRequest(`textDocument/${method}`, { textDocument: { uri: this.uri }, position });
  }

  position(at) {
    const lines = this.text.slice(0, at).split("\n");
    return { line: lines.length - 1, character: lines.at(-1).length };
  }

  async end() {
    await this.#connection.sendRequest("shutdown");
    await this.#connection.sendNotification("exit");
    this.#connection.end();
    return new Promise((resolve) => this.#child.on("exit", resolve));
  }
}

/**
 * `count` keystrokes: a statement or a comment is typed letter by letter into bodies all over the text, and taken out
 * again. Within the statement the program is wrong, within the comment it is right and checked as a whole.
 */
export function* keystrokes(text, count) {
  const places = [...text.matchAll(/\bapply\s*\{\n|\bstate\s+\w+\s*\{\n/g)].map((found) => found.index + found[0].length);
  const typed = ["hdr.ethernet.x = 1;\n", "// as it should be\n"];
  for (let made = 0, place = 0; made < count; place += 1) {
    // Where a body begins now that what was typed before is gone.
    const start = places[(place * 7) % places.length];
    const content = typed[place % 2];
    for (let letter = 0; letter < content.length && made < count; letter += 1, made += 1) {
      yield { at: start + letter, taken: 0, written: content[letter] };
    }
    yield { at: start, taken: -1, written: "" };
  }
}
