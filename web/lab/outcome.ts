// Results of a run: its tables, and its last losses.

import type { Drop, Results } from "./answers";
import { make } from "./dom";
import { tables } from "./tables";
import type { Variant } from "./variants";
import { lossNamed } from "./why";
import { count, seconds } from "./words";

// Number of losses listed.
const LISTED = 60;

export function outcome(results: Record<string, Results>, seed: number): HTMLElement[] {
  const several = Object.keys(results).length > 1;
  return Object.entries(results).flatMap(([name, of]) => [
    make("h3", {}, several ? `Results of ${name}` : "Results"),
    make("p", { class: "aside" }, `Identical to the results of tailback run --seed ${seed}: SHA-256 of all tables`, make("code", { class: "hash", id: `hash-${name}` }, of.hash), `; scenario `, make("code", { class: "hash" }, of.scenario.slice(0, 16)), `; ${count(of.events)} events.`),
    ...tables(of),
  ]);
}

// The last losses, each with a button for its explanation, for use without a mouse.
export function lossList(variants: Variant[], why: (name: Variant["name"], drop: Drop) => void): HTMLElement | null {
  const rows = variants.flatMap(({ name, pane }) => pane.run.drops.slice(-LISTED).map((drop) => ({ name, drop }))).sort((one, other) => other.drop.time_s - one.drop.time_s);
  if (rows.length === 0) {
    return null;
  }
  const row = ({ name, drop }: (typeof rows)[number]) =>
    make("tr", {}, make("td", { class: "n" }, seconds(drop.time_s, 6)), make("td", {}, `${variants.length > 1 ? `${name}: ` : ""}${lossNamed(drop)}`), make("td", {}, drop.reason), make("td", {}, make("button", { click: () => why(name, drop) }, "Why?")));
  const head = ["time", "loss", "reason", ""].map((name) => make("th", { scope: "col" }, name));
  return make("details", {}, make("summary", {}, "The last losses"), make("div", { class: "losses" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.slice(0, LISTED).map(row)))));
}
