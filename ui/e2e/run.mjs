// End-to-end tests: the program serves a trace, and a browser is driven as a person would.
//
//   ETWKIT_BIN=PROGRAM node e2e/run.mjs [PATTERN]
//
// The browser is Chromium of the system, or ETWKIT_CHROMIUM. With ETWKIT_PAGE=FOLDER it gets the page that
// `node build.mjs FOLDER` built, in place of the one that is a part of the program. ETWKIT_ALL=1 goes through more
// sizes, themes and views. ETWKIT_PICTURES=1 keeps pictures in e2e/out to be looked at.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import esbuild from "esbuild";

const root = path.join(import.meta.dirname, "..");
const fail = (message) => {
  console.error(`error: ${message}`);
  process.exit(2);
};
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromium = process.env.ETWKIT_CHROMIUM ?? places.find((place) => existsSync(place));
if (chromium === undefined) fail("Chromium is missing; on Debian: sudo apt-get install chromium");
const program = process.env.ETWKIT_BIN;
if (program === undefined || !existsSync(program)) fail("ETWKIT_BIN has to name the program etwkit");

const pattern = process.argv[2] ?? "";
const tests = (await readdir(path.join(root, "e2e"))).filter(
  (file) => file.endsWith(".test.ts") && file.includes(pattern),
);
const out = await mkdtemp(path.join(tmpdir(), "etwkit-e2e-"));
await mkdir(path.join(root, "e2e/out"), { recursive: true });
await esbuild.build({
  entryPoints: tests.map((file) => path.join(root, "e2e", file)),
  outdir: path.join(root, "node_modules/.e2e"),
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = tests.map((file) => path.join(root, "node_modules/.e2e", file.replace(/\.ts$/, ".mjs")));
const env = {
  ...process.env,
  ETWKIT_CHROMIUM: chromium,
  ETWKIT_BIN: path.resolve(program),
  ETWKIT_E2E: out,
  ETWKIT_UI: root,
  ETWKIT_PAGE: process.env.ETWKIT_PAGE === undefined ? "" : path.resolve(process.env.ETWKIT_PAGE),
};
/** Runs so many of the files at a time. */
const run = (files, concurrency) => {
  if (files.length === 0) return 0;
  const options = ["--enable-source-maps", "--test", "--test-reporter=spec"];
  const args = [...options, `--test-concurrency=${concurrency}`, ...files];
  return spawnSync(process.execPath, args, { stdio: "inherit", env }).status ?? 1;
};
/** Ends the servers that files of tests have in common. */
async function endServers() {
  const place = path.join(out, "common/servers");
  for (const name of existsSync(place) ? await readdir(place) : []) {
    try {
      process.kill(Number(await readFile(path.join(place, name, "pid"), "utf8")), "SIGKILL");
    } catch {
      console.error(`note: the server of ${name} had ended`);
    }
  }
}
// Browsers mostly wait for what is drawn, so that two of them share two processors well. What measures times or
// counts requests runs by itself.
const isMeasuring = (file) => /(killed|size)\.test\.mjs$/.test(file);
const statuses = [
  run(
    files.filter((file) => !isMeasuring(file)),
    2,
  ),
  run(files.filter(isMeasuring), 1),
];
await endServers();
await rm(out, { recursive: true, force: true });
process.exit(Math.max(...statuses));
