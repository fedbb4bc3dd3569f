// Builds the browser scripts:
//
//     node build.mjs [FILE]                 the script that is embedded in reports and shared by the site's pages
//     node build.mjs --lab CORE.wasm DIR    the lab: a folder of static files, and widget.js, which shows it in a notebook
//
// Each begins with the licences of the packages that it includes.

import { buildParserFile } from "@lezer/generator";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = {
  absWorkingDir: here("."),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  loader: { ".css": "text", ".toml": "text" },
  logLevel: "warning",
  plugins: [{ name: "grammar", setup: grammar }],
};
const [first, core, folder] = process.argv.slice(2);
if (first === "--lab") {
  await lab(core, resolve(folder));
} else {
  await bundle("src/main.ts", first ?? here("../python/tailback/_web/plots.js"));
}

async function bundle(entry, file, options = {}) {
  const { outputFiles, metafile } = await build({ ...common, ...options, entryPoints: [entry], metafile: true, write: false });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, licences(Object.keys(metafile.inputs)) + outputFiles[0].text);
}

// A comment with each licence and the packages that have it.
function licences(sources) {
  const packages = new Set(sources.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  const read = (name, file) => readFileSync(here(`node_modules/${name}/${file}`), "utf8").trim();
  const titles = new Map();
  for (const name of [...packages].sort()) {
    const { name: title, version } = JSON.parse(read(name, "package.json"));
    const licence = read(name, "LICENSE");
    titles.set(licence, [...(titles.get(licence) ?? []), `${title} ${version}`]);
  }
  return [...titles].map(([licence, names]) => `/* With ${names.join(", ")}:\n${licence}\n*/\n`).join("");
}

// An esbuild plugin: `*.grammar` is a parser.
function grammar(build) {
  build.onLoad({ filter: /\.grammar$/ }, ({ path }) => ({ contents: buildParserFile(readFileSync(path, "utf8"), { fileName: path, moduleStyle: "es" }).parser }));
}

async function lab(core, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const version = /^version = "(.*)"$/m.exec(readFileSync(here("../Cargo.toml"), "utf8"))[1];
  const define = { TAILBACK_VERSION: JSON.stringify(version) };
  await bundle("lab/main.ts", `${folder}/lab.js`, { define });
  await bundle("lab/worker.ts", `${folder}/worker.js`);
  for (const name of ["index.html", "lab.css", "icon.svg", "experiments.json"]) {
    copyFileSync(here(`lab/${name}`), `${folder}/${name}`);
  }
  await bundle("lab/widget.ts", `${folder}/../widget.js`, { format: "esm" });
  copyFileSync(core, `${folder}/core.wasm`);
  writeFileSync(`${folder}/examples.json`, JSON.stringify(examples()));
  const files = readdirSync(folder).sort();
  const digest = createHash("sha256");
  files.forEach((name) => digest.update(name).update(readFileSync(`${folder}/${name}`)));
  const kept = { LAB_FILES: JSON.stringify(files), LAB_BUILD: JSON.stringify(`${version}-${digest.digest("hex").slice(0, 16)}`) };
  await bundle("lab/offline.ts", `${folder}/offline.js`, { define: kept });
}

// Each example with the question at the beginning of its comment, and its notes. These cards come first, the others follow by name, and
// those with ATM cells last.
function examples() {
  const foremost = ["one_flow", "two_rtts", "cubic", "bbr", "codel", "fq_codel", "ecn", "short_transfers", "incast", "l4s"];
  const names = readdirSync(here("../examples")).filter((name) => name.endsWith(".toml")).sort();
  const first = (name) => (foremost.indexOf(name) + foremost.length + 1) % (foremost.length + 1);
  const rank = ({ name, toml }) => (/^(framing|abr) =|\{ *framing|, *framing/m.test(toml) ? foremost.length + 1 : first(name));
  const read = names.map((name) => {
    // Without the address of the schema, which the editor of the lab has.
    const toml = readFileSync(here(`../examples/${name}`), "utf8").replace(/^#:schema .*\n/, "");
    const comment = toml.slice(0, toml.search(/^[^#]/m)).split(/^#\s*$/m);
    const prose = (lines = "") => lines.replace(/^#\s?/gm, "").replaceAll("`", "").replace(/\s+/g, " ").trim();
    return { name: name.replace(".toml", ""), question: prose(comment[0]), see: prose(comment[1]), toml };
  });
  return read.sort((one, other) => rank(one) - rank(other));
}
