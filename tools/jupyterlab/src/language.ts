// Colours of a cell: its first line is a magic, all others are SQL.
import { LanguageSupport, StreamLanguage, type StreamParser, type StringStream } from "@codemirror/language";
import { KEYWORDS, TYPES } from "./words.js";

export const MIME = "text/x-sqlext";

// The names of styles are those of CodeMirror; the theme of the front end has their colours.
type Style = "comment" | "string" | "string-2" | "variable-2" | "number" | "keyword" | "builtin" | "operator" | "meta";

interface State {
  part: "before" | "options" | "sql";
  inside: Inside | null;
}

interface Inside {
  end: string;
  style: Style;
}

const COMMENT: Inside = { end: "*/", style: "comment" };
const QUOTES: Record<string, Inside> = {
  "'": { end: "'", style: "string" },
  '"': { end: '"', style: "string" },
  "`": { end: "`", style: "string-2" },
};
const VARIABLE = /^\$\{[A-Za-z0-9_]+\}/;

/** Whether a cell holds SQL of ours: its first line that is not blank names one of the magics. */
export function isOurs(text: string): boolean {
  return /^\s*%%sqlext(_explain|_plan)?(\s|$)/.test(text);
}

/** Read on until the end of a string, of a quoted name or of a comment; it may have many lines. */
function within(stream: StringStream, state: State, inside: Inside): Style {
  if (inside.style === "string" && stream.match(VARIABLE)) return "variable-2";
  while (!stream.eol()) {
    if (inside.style === "string" && stream.match(VARIABLE, false)) return inside.style;
    if (stream.match(inside.end)) {
      // A quote that is written twice is one of the text.
      if (inside === COMMENT || !stream.match(inside.end)) {
        state.inside = null;
        return inside.style;
      }
    } else if (inside.style === "string" && stream.peek() === "\\") {
      stream.next();
      stream.next();
    } else {
      stream.next();
    }
  }
  return inside.style;
}

function token(stream: StringStream, state: State): Style | null {
  if (stream.sol() && state.part === "options") state.part = "sql";
  if (state.inside !== null) return within(stream, state, state.inside);
  if (stream.eatSpace()) return null;
  if (state.part === "before") {
    state.part = "options";
    stream.match(/^%%\w+/);
    return "meta";
  }
  if (state.part === "options") {
    const option = stream.peek() === "-";
    stream.match(/^\S+/);
    return option ? "meta" : null;
  }
  if (stream.match("--")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.inside = COMMENT;
    return within(stream, state, COMMENT);
  }
  const quote = QUOTES[stream.peek() ?? ""];
  if (quote !== undefined) {
    stream.next();
    state.inside = quote;
    return stream.match(VARIABLE, false) ? quote.style : within(stream, state, quote);
  }
  return word(stream);
}

function word(stream: StringStream): Style | null {
  if (stream.match(VARIABLE)) return "variable-2";
  if (stream.match(/^\d+(\.\d+)?([eE][+-]?\d+)?/)) return "number";
  const found = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (found === null) return /[-+*\/%<>=!|&^~]/.test(stream.next() ?? "") ? "operator" : null;
  const upper = found[0].toUpperCase();
  // DATE and TIME are functions, too: a type is a type wherever it stands.
  if (TYPES.has(upper)) return "builtin";
  return KEYWORDS.has(upper) ? "keyword" : null;
}

export const PARSER: StreamParser<State> = {
  name: "sqlext",
  startState: () => ({ part: "before", inside: null }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", "'", '"', "`"] } },
};

export async function language(): Promise<LanguageSupport> {
  return new LanguageSupport(StreamLanguage.define(PARSER));
}
