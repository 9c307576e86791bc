// How a cell is coloured, by the parser itself: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { StringStream } from "@codemirror/language";
import { PARSER, isOurs } from "../lib/language.js";

/** The styles of a text, as pairs of a piece and its style. */
function coloured(text) {
  const state = PARSER.startState(4);
  const found = [];
  for (const line of text.split("\n")) {
    const stream = new StringStream(line, 4, 4);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = PARSER.token(stream, state);
      assert.ok(stream.pos > stream.start, `nothing was read of ${line.slice(stream.pos)}`);
      if (style !== null) found.push([stream.current(), style]);
    }
  }
  return found;
}

const sql = (text) => coloured(`%%sqlext\n${text}`).slice(1);

test("cells of our magics are ours, others are not", () => {
  for (const text of ["%%sqlext", "%%sqlext -v A\nSELECT 1", "\n%%sqlext_explain\nSELECT 1", "%%sqlext_plan\n"])
    assert.ok(isOurs(text), text);
  for (const text of ["%%sqlextra", "%sqlext_plot", "x = '%%sqlext'", "%%sql\nSELECT 1", "# a\n%%sqlext"])
    assert.ok(!isOurs(text), text);
});

test("the first line is the magic and its options", () => {
  assert.deepEqual(coloured("%%sqlext -v IN=folder --for '30 s'\nFROM"), [
    ["%%sqlext", "meta"],
    ["-v", "meta"],
    ["--for", "meta"],
    ["FROM", "keyword"],
  ]);
});

test("keywords, types, numbers, operators and names", () => {
  assert.deepEqual(sql("SELECT a + 1.5e3 FROM t EMIT EARLY; x BIGINT"), [
    ["SELECT", "keyword"],
    ["+", "operator"],
    ["1.5e3", "number"],
    ["FROM", "keyword"],
    ["EMIT", "keyword"],
    ["EARLY", "keyword"],
    ["BIGINT", "builtin"],
  ]);
});

test("strings have doubled quotes, variables and many lines", () => {
  assert.deepEqual(sql("'it''s' '${IN}/x' 'a\nSELECT b' `from`"), [
    ["'it''s'", "string"],
    ["'", "string"],
    ["${IN}", "variable-2"],
    ["/x'", "string"],
    ["'a", "string"],
    ["SELECT b'", "string"],
    ["`from`", "string-2"],
  ]);
});

test("comments end where they end", () => {
  assert.deepEqual(sql("-- it's\nSELECT /* two\nlines */ FROM"), [
    ["-- it's", "comment"],
    ["SELECT", "keyword"],
    ["/* two", "comment"],
    ["lines */", "comment"],
    ["FROM", "keyword"],
  ]);
});
