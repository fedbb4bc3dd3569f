// From a time on with one thing changed: a change in the timeline, so that the wheel runs the same.

import type { Port } from "./answers";
import { fill, make } from "./dom";
import type { Variant } from "./variants";
import { seconds } from "./words";

// A change of a link, as the timeline has it.
export type Change = Record<string, string>;

export function forkForm(place: HTMLElement, variant: Variant, time: number, fork: (change: Change) => void): void {
  const { ports, followed } = variant.pane.description;
  const links = make("select", { "aria-label": "Link" }, ...followed.ports.map((id) => make("option", {}, ports[id]?.name ?? "")));
  const what = make("select", { "aria-label": "What changes", change: () => suggest() }, make("option", { value: "rate" }, "rate"), make("option", { value: "delay" }, "delay"), make("option", { value: "loss" }, "random loss"));
  const value = make("input", { size: 10, "aria-label": "New value", autocomplete: "off" });
  const suggest = () => {
    value.value = suggested(what.value, ports.find((one) => one.name === links.value));
  };
  suggest();
  const go = make("button", { class: "main", id: "fork-go", click: () => fork({ at: `${Number((time * 1e3).toFixed(6))} ms`, link: links.value, [what.value]: value.value }) }, "Fork");
  const close = make("button", { class: "close", "aria-label": "Close", click: () => { place.hidden = true; } }, "\u2715");
  fill(place, close, make("h3", {}, `Fork at ${seconds(time, 5)}`), make("p", {}, "B is the same run up to here, and goes on with one thing changed. Everything else can be changed from the start: Compare."), make("div", { class: "row" }, links, what, value, go));
  place.hidden = false;
}

// Half the rate, twice the delay: something to see.
function suggested(what: string, port: Port | undefined): string {
  switch (what) {
    case "rate":
      return `${Number((((port?.rate_bps ?? 2e6) / 2) / 1e6).toPrecision(3))} Mbps`;
    case "delay":
      return `${Number(((port?.delay_s ?? 0.01) * 2000).toPrecision(3))} ms`;
    default:
      return "1 %";
  }
}
