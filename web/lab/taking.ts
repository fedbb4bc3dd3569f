// Exports: files, pictures, and a link that contains everything.

import type { Results } from "./answers";
import { byId, fill, make, save } from "./dom";
import { curvesCsv, png, svg } from "./exporting";
import { fragment, LinkError } from "./link";
import { csv } from "./tables";
import type { Variants } from "./variants";
import { count } from "./words";

// `settled`: once typed text has been applied.
export function exportMenu(variants: Variants, results: Record<string, Results>, settled: () => Promise<unknown>): void {
  const menu = byId("exports");
  const { panes } = variants;
  const item = (label: string, act: () => void) => make("button", { click: () => { act(); menu.closest("details")?.removeAttribute("open"); } }, label);
  const several = variants.all.length > 1;
  const tables = Object.entries(results).flatMap(([name, { tables: all }]) => all.map((table) => item(`Table ${table.name}${several ? ` of ${name}` : ""} (CSV)`, () => save(`${table.name}${several ? `-${name}` : ""}.csv`, csv(table), "text/csv"))));
  fill(
    menu,
    item("Scenario (TOML)", () => void settled().then(() => save("scenario.toml", variants.get().toml, "application/toml"))),
    item("Curves (CSV)", () => save("curves.csv", curvesCsv(panes), "text/csv")),
    item("Curves (SVG)", () => save("curves.svg", svg(panes), "image/svg+xml")),
    item("Picture (PNG)", () => void png(panes).then((blob) => save("lab.png", blob, "image/png"))),
    ...tables,
  );
}

// Creates a link to the open scenarios. Returns a message with its location.
export async function share(variants: Variants, version: string): Promise<string> {
  const [one, other] = variants.all;
  if (!one) {
    return "There is nothing to share yet.";
  }
  let hash: string;
  try {
    hash = await fragment({ v: 1, version, seed: variants.seed, toml: one.toml, ...(other ? { other: other.toml } : {}) });
  } catch (error) {
    if (!(error instanceof LinkError)) {
      throw error;
    }
    return error.sentence;
  }
  history.replaceState(history.state, "", hash);
  const address = location.href;
  try {
    await navigator.clipboard.writeText(address);
    return `The link has been copied: ${count(address.length)} characters, which contain the scenario and the seed.`;
  } catch {
    return "The address of this page is now the link: copy it from the address bar.";
  }
}
