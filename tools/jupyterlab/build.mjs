// Build the extension of JupyterLab into sqlext/notebook/labextension; setup.py lays it where JupyterLab looks.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "..", "sqlext", "notebook", "labextension");
rmSync(target, { recursive: true, force: true });

// The builder asks which packages JupyterLab itself has; none of them is built in.
const core = join(here, "node_modules", ".core");
mkdirSync(core, { recursive: true });
copyFileSync(join(here, "node_modules", "@jupyterlab", "core-meta", "core.package.json"), join(core, "package.json"));
const builder = join(here, "node_modules", "@jupyterlab", "builder", "lib", "build-labextension.js");
execFileSync(process.execPath, [builder, "--core-path", core, here], { stdio: "inherit" });

// JupyterLab's list of extensions says who has brought it.
const brought = { packageManager: "python", packageName: "sqlext-spark", uninstallInstructions: "pip uninstall sqlext-spark" };
writeFileSync(join(target, "install.json"), `${JSON.stringify(brought, null, 2)}\n`);

// A test compares this with the sources: tests/built_files.py counts it alike.
const sources = ["build.mjs", "package.json", "package-lock.json", ...readdirSync(join(here, "src")).map((f) => `src/${f}`)];
const hash = createHash("sha256");
for (const name of sources.sort()) hash.update(name).update("\0").update(readFileSync(join(here, name))).update("\0");
writeFileSync(join(target, "sources.sha256"), `${hash.digest("hex")}\n`);
