// Builds the page: index.html, one script and one style sheet, split where views are loaded late.
//
//   node build.mjs [FOLDER]     into dist, unless a folder is named
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import esbuild from "esbuild";

/** What the first load may take, packed as most servers do (gzip); browsers that take Brotli get less. */
const FIRST_LOAD_BYTES = 150_000;

/** Lines of code that the page may have, without empty lines, comments, tests and the types that the server writes. */
const MOST_LINES = 18_000;

const root = import.meta.dirname;
const out = path.resolve(process.argv[2] ?? path.join(root, "dist"));
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const result = await esbuild.build({
  entryPoints: { app: path.join(root, "src/main.tsx"), style: path.join(root, "src/styles/index.css") },
  outdir: out,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  metafile: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "chunk-[hash]",
  logLevel: "warning",
});
const files = Object.keys(result.metafile.outputs).map((file) => path.basename(file));
const one = (pattern) => files.find((file) => pattern.test(file));
const page = await readFile(path.join(root, "src/index.html"), "utf8");
const html = page.replace("%SCRIPT%", one(/^app-.*\.js$/)).replace("%STYLE%", one(/^style-.*\.css$/));
await writeFile(path.join(out, "index.html"), html);
await copyFile(path.join(root, "src/icon.svg"), path.join(out, "icon.svg"));
// What the first load takes: the page, what it names, and what that imports at once.
const late = lateFiles(result.metafile.outputs);
let first = 0;
for (const file of await readdir(out)) {
  const bytes = await readFile(path.join(out, file));
  await writeFile(path.join(out, `${file}.br`), brotliCompressSync(bytes));
  if (!late.has(file)) first += gzipSync(bytes).length;
}
console.log(`page: ${files.length + 2} files, first load ${first} bytes compressed`);
if (first > FIRST_LOAD_BYTES) {
  throw new Error(`the first load has ${first} bytes compressed; at most ${FIRST_LOAD_BYTES} are allowed`);
}

const lines = await linesOfCode(path.join(root, "src"));
console.log(`${lines} lines of code`);
if (lines > MOST_LINES) {
  throw new Error(`the page has ${lines} lines of code; at most ${MOST_LINES} are allowed`);
}

/** Lines of the TypeScript in a folder that are code. */
async function linesOfCode(folder) {
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.|^wire\.ts$/.test(file),
  );
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
  const isCode = (line) => line !== "" && !/^(\/\/|\{?\/?\*)/.test(line);
  const counts = texts.map((text) => text.split("\n").filter((line) => isCode(line.trim())).length);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Files that only an `import()` brings. */
function lateFiles(outputs) {
  const names = Object.keys(outputs);
  const early = names.filter((name) => /^(app|style)-/.test(path.basename(name)));
  // Grows while it is gone through.
  for (const name of early) {
    const now = outputs[name].imports.filter((one) => one.kind === "import-statement").map((one) => one.path);
    early.push(...now.filter((one) => !early.includes(one)));
  }
  return new Set(names.filter((name) => !early.includes(name)).map((name) => path.basename(name)));
}
