// Colours: scopes of words in lines of P4.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const GRAMMAR = join(dirname(fileURLToPath(import.meta.url)), "..", "syntaxes", "p4.tmLanguage.json");

const require = createRequire(import.meta.url);
await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(GRAMMAR, "utf8"), GRAMMAR),
});
const grammar = await registry.loadGrammar("source.p4");

/** The innermost scope of each word of a text. */
function scopes(text) {
  const found = new Map();
  let stack = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    for (const token of tokens) {
      found.set(line.slice(token.startIndex, token.endIndex).trim(), token.scopes.at(-1));
    }
  }
  return found;
}

test("words have the colours of what they are", () => {
  const found = scopes(
    `#include <core.p4>
#define SIZE 8
// note
@name("x") header ethernet_t { bit<48> dst; }
enum bit<8> Color { RED = 8w0xff }
state start { transition accept; }
table routes { key = { a: exact; } }
if (true) { forward(); }
`,
  );
  const expected = {
    "#include": "keyword.control.directive.include.p4",
    "<core.p4>": "string.quoted.include.p4",
    "#define": "keyword.control.directive.p4",
    "// note": "comment.line.double-slash.p4",
    "@name": "storage.modifier.annotation.p4",
    header: "storage.type.p4",
    ethernet_t: "entity.name.type.p4",
    bit: "support.type.p4",
    48: "constant.numeric.p4",
    "8w0xff": "constant.numeric.p4",
    Color: "entity.name.type.p4",
    start: "entity.name.function.p4",
    transition: "keyword.control.p4",
    accept: "constant.language.p4",
    routes: "entity.name.type.p4",
    key: "variable.other.property.p4",
    exact: "support.constant.match-kind.p4",
    if: "keyword.control.p4",
    forward: "entity.name.function.p4",
  };
  for (const [word, scope] of Object.entries(expected)) {
    assert.equal(found.get(word), scope, word);
  }
});

test("a comment and a string end where they end", () => {
  const found = scopes('/** a\nb */ const bit<8> x = 1; @brief("t // u") action y() { }');
  assert.equal(found.get("b"), "comment.block.documentation.p4");
  assert.equal(found.get("const"), "storage.modifier.p4");
  assert.equal(found.get("t // u"), "string.quoted.double.p4");
  assert.equal(found.get("action"), "storage.type.p4");
});
