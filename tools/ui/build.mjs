// Build the page into sqlext/ui/static: one script, one style sheet, and the licences of what is in them.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "..", "sqlext", "ui", "static");
const LIBRARIES = ["preact", "@dagrejs/dagre", "@dagrejs/graphlib", "uplot"];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  entryPoints: [join(here, "src", "app.tsx")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2021",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  outfile: join(target, "app.js"),
});
cpSync(join(here, "src", "index.html"), join(target, "index.html"));
cpSync(join(here, "src", "icon.svg"), join(target, "icon.svg"));

const licences = LIBRARIES.map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(target, "LICENSES.txt"), `Libraries in app.js and app.css.\n\n${licences.join("\n----\n\n")}`);

// The test of the page compares this with the sources: tests/unit/ui/test_static.py counts it alike.
const sources = ["build.mjs", "package.json", "package-lock.json", ...readdirSync(join(here, "src")).map((f) => `src/${f}`)];
const hash = createHash("sha256");
for (const name of sources.sort()) hash.update(name).update("\0").update(readFileSync(join(here, name))).update("\0");
writeFileSync(join(target, "sources.sha256"), `${hash.digest("hex")}\n`);
