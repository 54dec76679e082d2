// Runs the unit tests: each file is bundled, as the page is, and run by Node's test runner.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import esbuild from "esbuild";

const root = import.meta.dirname;
const all = await readdir(path.join(root, "src"), { recursive: true });
const tests = all.filter((file) => /\.test\.tsx?$/.test(file)).map((file) => path.join(root, "src", file));
const out = await mkdtemp(path.join(tmpdir(), "etwkit-ui-"));
await esbuild.build({
  entryPoints: tests,
  outdir: out,
  outbase: path.join(root, "src"),
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: "inline",
  logLevel: "warning",
});
const built = (await readdir(out, { recursive: true })).filter((file) => file.endsWith(".mjs"));
const files = built.map((file) => path.join(out, file));
const run = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", "--test-reporter=spec", ...files],
  { stdio: "inherit" },
);
await rm(out, { recursive: true, force: true });
process.exit(run.status ?? 1);
