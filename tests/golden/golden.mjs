// Golden hashes as WebAssembly: the compiled core gives the same bytes for every example as it does natively.
// The native half, which also blesses new hashes, is crates/wasm/tests/golden.rs.
//
//     node tests/golden/golden.mjs target/wasm32-unknown-unknown/web/tailback_wasm.wasm

import { readFileSync, readdirSync } from "node:fs";

const here = (path) => new URL(path, import.meta.url);

const [module] = process.argv.slice(2);
if (module === undefined) {
  console.error("usage: golden.mjs MODULE, the tailback_wasm.wasm that cargo built");
  process.exit(2);
}
const compiled = new WebAssembly.Module(readFileSync(module));
const golden = JSON.parse(readFileSync(here("hashes.json"), "utf8"));
const examples = readdirSync(here("../../examples/")).filter((name) => name.endsWith(".toml"));

let passed = 0;
let failed = 0;
for (const name of new Set([...Object.keys(golden), ...examples].sort())) {
  const runs = Object.entries(golden[name] ?? {});
  if (runs.length === 0) {
    fail(`${name}: no golden hash`);
  }
  for (const [seed, expected] of runs) {
    try {
      compare(`${name}, seed ${seed}`, expected, run(name, Number(seed)));
    } catch (error) {
      fail(`${name}, seed ${seed}: ${error.message}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

// The hashes of one run, in an instance of its own: a run that traps leaves nothing behind.
function run(name, seed) {
  const core = new WebAssembly.Instance(compiled).exports;
  const toml = readFileSync(here(`../../examples/${name}`));
  const room = core.tailback_scenario(toml.length);
  new Uint8Array(core.memory.buffer, room, toml.length).set(toml);
  const done = core.tailback_hashes(seed);
  const bytes = new Uint8Array(core.memory.buffer, core.tailback_answer(), core.tailback_answer_bytes());
  const answer = new TextDecoder().decode(bytes);
  if (!done) {
    throw new Error(answer);
  }
  return JSON.parse(answer);
}

// `results` decides; the tables beside it say where the difference lies.
function compare(run, expected, found) {
  if (found.results === expected.results) {
    passed += 1;
    return;
  }
  const tables = Object.keys({ ...expected, ...found }).filter((table) => expected[table] !== found[table]);
  fail(`${run}: not as natively in ${tables.join(", ")}`);
}

function fail(message) {
  failed += 1;
  console.error(`FAILED ${message}`);
}
