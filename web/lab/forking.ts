// Forks a run: one change from a given time on, as an entry of the timeline, so that the Python package runs the same scenario.

import type { Port } from "./answers";
import { fill, make } from "./dom";
import type { Variant } from "./variants";
import { seconds } from "./words";

// A change of a link or of a group, as in the timeline.
export type Change = Record<string, string | boolean>;

// `replaced`: a variant B exists already.
export function forkForm(place: HTMLElement, variant: Variant, time: number, replaced: boolean, fork: (change: Change) => void): void {
  const { ports, observed, groups, flows } = variant.pane.description;
  const links = observed.ports.map((id) => ports[id]?.name ?? "");
  const whom = make(
    "select",
    { "aria-label": "Link or group to change", change: () => choose() },
    make("optgroup", { label: "Links" }, ...links.map((name) => make("option", { value: `link ${name}` }, name))),
    make("optgroup", { label: "Groups of flows" }, ...groups.map(({ name }) => make("option", { value: `group ${name}` }, name))),
  );
  const what = make("select", { "aria-label": "Property to change", change: () => suggest() });
  const value = make("input", { size: 10, "aria-label": "New value", autocomplete: "off" });
  const ofLink = () => whom.value.startsWith("link ");
  const name = () => whom.value.slice(whom.value.indexOf(" ") + 1);
  const port = () => ports.find((one) => one.name === name());
  const carriesCells = () => {
    const id = ports.findIndex((one) => one.name === name());
    return flows.some((flow) => [...flow.forward, ...flow.backward].includes(id) && groups.find((group) => group.name === flow.group)?.cells);
  };
  const choose = () => {
    // An unlimited buffer remains unlimited.
    const room = port()?.buffer === null ? [] : [["buffer", "buffer"]];
    const options = ofLink() ? [["rate", "rate"], ["delay", "delay"], ["loss", "random loss"], ...room] : [["stop", "sends no new data"]];
    fill(what, ...options.map(([word, label]) => make("option", { value: word }, label)));
    suggest();
  };
  const suggest = () => {
    value.hidden = !ofLink();
    value.value = suggested(what.value, port(), carriesCells());
  };
  choose();
  const at = `${Number((time * 1e3).toFixed(6))} ms`;
  const change = (): Change => (ofLink() ? { at, link: name(), [what.value]: value.value } : { at, group: name(), stop: true });
  const go = make("button", { class: "main", id: "fork-go", click: () => fork(change()) }, "Fork");
  const close = make("button", { class: "close", "aria-label": "Close", click: () => { place.hidden = true; } }, "\u2715");
  const closed = variant.name === "B" ? "  The current A is closed and this B takes its place." : replaced ? "  The current B is closed." : "";
  fill(place, close, make("h3", {}, `Fork${replaced ? ` of ${variant.name}` : ""} at ${seconds(time, 5)}`), make("p", {}, `A new variant B repeats the run up to this time and continues with one change. To change other things, or from the start, use Compare.${closed}`), make("div", { class: "row" }, whom, what, value, go));
  place.hidden = false;
}

// Half the rate, twice the delay, twice the buffer: a visible effect.
function suggested(what: string, port: Port | undefined, inCells: boolean): string {
  switch (what) {
    case "rate":
      return `${Number((((port?.rate_bps ?? 2e6) / 2) / 1e6).toPrecision(3))} Mbps`;
    case "delay":
      return `${Number(((port?.delay_s ?? 0.01) * 2000).toPrecision(3))} ms`;
    case "buffer":
      return `${Math.max(1, 2 * (port?.buffer ?? 50))} ${port?.buffer_unit === "bytes" ? "B" : inCells ? "cells" : "packets"}`;
    default:
      return "1 %";
  }
}
