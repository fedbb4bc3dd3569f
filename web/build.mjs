// Makes the one script that a report has in it and a site beside it, uPlot and its licence included: node build.mjs [FILE].

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const uplot = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8"));
const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();

await build({
  absWorkingDir: here("."),
  entryPoints: ["src/main.ts"],
  outfile: process.argv[2] ?? here("../python/tailback/_web/plots.js"),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  loader: { ".css": "text" },
  // A report carries a copy of uPlot, and so its terms.
  banner: { js: `/* With uPlot ${uplot.version}:\n${licence}\n*/` },
  logLevel: "warning",
});
