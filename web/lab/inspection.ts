// Inspection of a run: the time under the pointer, a cursor, and the explanation of a loss.

import type { Description, Drop, WhyAnswer } from "./answers";
import type { CurveListener } from "./curves";
import { byId, fill, make } from "./dom";
import type { Engine } from "./engine";
import { buffer } from "./network";
import type { Variant, Variants } from "./variants";
import { explained } from "./why";
import { count, percent } from "./words";

// Time range shown, in seconds before now.
export const SPANS: [string, number | null][] = [["the whole run", null], ["the last 20 s", 20], ["the last 5 s", 5], ["the last 1 s", 1], ["the last 0.2 s", 0.2]];

// Milliseconds after which a frame is late; it should take 16 or 17.
const LATE_MS = 20;
// For two variants.
const PANELS = 10;

// Callbacks of an inspection.
export interface InspectionListener {
  // A time has been chosen.
  chosen(variant: Variant, time: number): void;
  failed(error: unknown): void;
}

export class Inspection {
  cursor: number | null = null;
  private zoomed: [number, number] | null = null;
  private turn = 0;
  // Maximum number of panels drawn per frame.
  private panelBudget = PANELS;
  private before = 0;

  constructor(private readonly engine: Engine, private readonly variants: Variants, private readonly listener: InspectionListener) {}

  watcher(name: string): CurveListener {
    return {
      hover: (time) => this.hover(time),
      choose: (time, loss) => this.point(name as Variant["name"], time, loss),
      zoom: (from, to) => {
        this.zoomed = [from, to];
        this.redraw();
      },
      all: () => {
        this.span("the whole run");
        // A double click began as two single clicks.
        this.place(null);
        byId("fork").hidden = true;
      },
    };
  }

  // Resets the cursor and the zoom.
  reset(): void {
    [this.cursor, this.zoomed] = [null, null];
    byId("why").hidden = true;
    byId("fork").hidden = true;
    this.redraw();
  }

  span(label: string): void {
    byId<HTMLSelectElement>("span").selectedIndex = SPANS.findIndex(([known]) => known === label);
    this.zoomed = null;
    this.redraw();
  }

  place(cursor: number | null): void {
    this.cursor = cursor;
    this.variants.panes.forEach((pane) => pane.panels.forEach((panel) => { panel.cursor = cursor; }));
    this.redraw();
  }

  redraw(): void {
    this.variants.panes.forEach((pane) => pane.touch());
  }

  // Draws changes; with two variants each is first in turn. The browser's drawing time cannot be measured, but late frames can: after one,
  // fewer panels are drawn per frame, and more again while frames are in time.
  draw(): void {
    const now = performance.now();
    this.panelBudget = now - this.before > LATE_MS ? Math.max(1, this.panelBudget / 2) : Math.min(PANELS, this.panelBudget + 0.05);
    this.before = now;
    const { panes } = this.variants;
    panes.forEach((pane) => pane.draw());
    this.turn++;
    const window = this.seen();
    let left = Math.floor(this.panelBudget);
    panes.forEach((_, place) => { left -= panes[(this.turn + place) % panes.length]?.drawCurves(window, left) ?? 0; });
  }

  async why(name: Variant["name"], drop: Drop): Promise<void> {
    const place = byId("why");
    place.hidden = false;
    const close = make("button", { class: "close", "aria-label": "Close", click: () => { place.hidden = true; } }, "\u2715");
    const heading = make("h3", { tabindex: -1 }, `Why was a packet lost at ${drop.queue}?`);
    fill(place, close, heading, make("p", {}, "Inspection\u2026"));
    place.scrollIntoView({ block: "nearest" });
    if (drop.flow === null) {
      return;
    }
    const variant = this.variants.get(name);
    const loss = { time_s: drop.time_s, port: drop.port, flow: drop.flow, segment: drop.segment, transmission: drop.transmission };
    try {
      const answer = await this.engine.question<WhyAnswer>({ ask: "why", name: "why", scenario: { toml: variant.validToml, seed: this.variants.seed }, loss });
      const cells = variant.pane.description.groups.some((group) => group.cells);
      fill(place, close, heading, ...explained(drop, answer, cells ? "cells" : "packets"));
      heading.focus({ preventScroll: true });
      place.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.listener.failed(error);
    }
  }

  // Description of a queue.
  port(description: Description, id: number): string {
    const port = description.ports[id];
    if (!port) {
      return "";
    }
    const state = this.variants.panes[0]?.run.update?.ports.find((one) => one.port === id);
    const lost = Object.entries(state?.discarded ?? {}).map(([reason, units]) => `${count(units)} ${reason}`).join(", ");
    const summary = state ? `${count(state.queue)} queued, ${count(state.departed)} sent, utilisation ${percent(state.utilisation)}; discarded ${lost || "none"}` : "not run yet";
    return `${port.name}: ${port.policy ?? "user code"}, ${buffer(port)}; ${summary}.`;
  }

  // The visible time range.
  private seen(): [number, number] {
    const span = SPANS[byId<HTMLSelectElement>("span").selectedIndex]?.[1] ?? null;
    const { now, duration } = this.variants;
    return this.zoomed ?? (span === null || span >= duration ? [0, duration] : [Math.max(0, now - span), Math.max(span, now)]);
  }

  private hover(time: number | null): void {
    this.variants.panes.forEach((pane) => {
      pane.showValues(time);
      pane.panels.forEach((panel) => panel.hover(time));
    });
  }

  private point(name: Variant["name"], time: number, loss: Drop | null): void {
    if (loss) {
      void this.why(name, loss);
      return;
    }
    this.place(Math.min(time, this.variants.duration));
    this.listener.chosen(this.variants.get(name), this.cursor ?? 0);
  }
}
