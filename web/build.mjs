// Builds the browser scripts:
//
//     node build.mjs [FILE]                 the script that is embedded in reports and shared by the site's pages
//     node build.mjs --lab CORE.wasm DIR    the lab: a folder of static files, and widget.js, which shows it in a notebook
//
// Both include uPlot and its licence.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const uplot = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8"));
const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();
const common = {
  absWorkingDir: here("."),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  loader: { ".css": "text" },
  // Each includes a copy of uPlot, and therefore its licence.
  banner: { js: `/* With uPlot ${uplot.version}:\n${licence}\n*/` },
  logLevel: "warning",
};

const [first, core, folder] = process.argv.slice(2);
if (first === "--lab") {
  await lab(core, resolve(folder));
} else {
  await build({ ...common, entryPoints: ["src/main.ts"], outfile: first ?? here("../python/tailback/_web/plots.js") });
}

async function lab(core, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const version = /^version = "(.*)"$/m.exec(readFileSync(here("../Cargo.toml"), "utf8"))[1];
  const define = { TAILBACK_VERSION: JSON.stringify(version) };
  await build({ ...common, define, entryPoints: ["lab/main.ts"], outfile: `${folder}/lab.js` });
  await build({ ...common, banner: {}, entryPoints: ["lab/worker.ts"], outfile: `${folder}/worker.js` });
  for (const name of ["index.html", "lab.css", "icon.svg", "experiments.json"]) {
    copyFileSync(here(`lab/${name}`), `${folder}/${name}`);
  }
  await build({ ...common, banner: {}, format: "esm", entryPoints: ["lab/widget.ts"], outfile: `${folder}/../widget.js` });
  copyFileSync(core, `${folder}/core.wasm`);
  writeFileSync(`${folder}/examples.json`, JSON.stringify(examples()));
  const files = readdirSync(folder).sort();
  const digest = createHash("sha256");
  files.forEach((name) => digest.update(name).update(readFileSync(`${folder}/${name}`)));
  const kept = { LAB_FILES: JSON.stringify(files), LAB_BUILD: JSON.stringify(`${version}-${digest.digest("hex").slice(0, 16)}`) };
  await build({ ...common, banner: {}, define: kept, entryPoints: ["lab/offline.ts"], outfile: `${folder}/offline.js` });
}

// Each example with the question at the beginning of its comment, and its notes. These cards come first, the others follow by name, and
// those with ATM cells last.
function examples() {
  const foremost = ["one_flow", "two_rtts", "cubic", "bbr", "codel", "fq_codel", "ecn", "short_transfers", "incast", "l4s"];
  const names = readdirSync(here("../examples")).filter((name) => name.endsWith(".toml")).sort();
  const first = (name) => (foremost.indexOf(name) + foremost.length + 1) % (foremost.length + 1);
  const rank = ({ name, toml }) => (/^(framing|abr) =|\{ *framing|, *framing/m.test(toml) ? foremost.length + 1 : first(name));
  const read = names.map((name) => {
    const toml = readFileSync(here(`../examples/${name}`), "utf8");
    const comment = toml.slice(0, toml.search(/^[^#]/m)).split(/^#\s*$/m);
    const prose = (lines = "") => lines.replace(/^#\s?/gm, "").replaceAll("`", "").replace(/\s+/g, " ").trim();
    return { name: name.replace(".toml", ""), question: prose(comment[0]), see: prose(comment[1]), toml };
  });
  return read.sort((one, other) => rank(one) - rank(other));
}
