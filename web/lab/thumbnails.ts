// Animated previews on cards: windows above, queues below, simulated by the core. A card plays once when it becomes visible, and again on
// hover or focus; invisible cards cost nothing.

import { Fault, type Description } from "./answers";
import { flowColour, ink, reasonColour } from "./colours";
import { largest, trace } from "./curves";
import type { Engine } from "./engine";
import { Run } from "./run";
import { count, rate } from "./words";

// Milliseconds in which a run is shown, if the core is fast enough.
const SHOWN = 5000;
// Number of events that the core processes for a card before the next card's turn.
const EVENTS = 15_000;
// With more flows than this, only a text is shown.
const FLOWS = 1000;
const HEIGHT = 76;
// Fraction of the height for the windows.
const WINDOWS = 0.58;

interface Card {
  name: string;
  toml: string;
  canvas: HTMLCanvasElement;
  facts: HTMLElement;
  run: Run | null;
  // Simulated seconds to be shown by now.
  target: number;
  // Time of this card's last turn.
  last: number;
  state: "unknown" | "closed" | "open" | "done" | "refused";
}

export class Thumbnails {
  private readonly cards = new Map<Element, Card>();
  private readonly inSight = new Set<Card>();
  private pointedAt: Card | null = null;
  private isBusy = false;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  private readonly observer = new IntersectionObserver((entries) => entries.forEach((entry) => this.seen(entry)));

  // `isFree`: whether the core is idle.
  constructor(private readonly engine: Engine, private readonly isFree: () => boolean) {}

  add(root: HTMLElement, canvas: HTMLCanvasElement, facts: HTMLElement, toml: string): void {
    const card: Card = { name: `card ${this.cards.size}`, toml, canvas, facts, run: null, target: 0, last: 0, state: "unknown" };
    this.cards.set(root, card);
    this.observer.observe(root);
    for (const kind of ["pointerenter", "focus"]) {
      root.addEventListener(kind, () => this.point(card));
    }
    for (const kind of ["pointerleave", "blur"]) {
      root.addEventListener(kind, () => { this.pointedAt = null; });
    }
  }

  // Called once per frame: a piece of work for one card, unless the last one is still in progress.
  tick(): void {
    if (this.isBusy || !this.isFree()) {
      return;
    }
    const card = this.next();
    if (card) {
      this.isBusy = true;
      void this.work(card).finally(() => { this.isBusy = false; });
    }
  }

  // The background has changed.
  recolour(): void {
    this.inSight.forEach((card) => draw(card));
  }

  private seen({ target, isIntersecting }: IntersectionObserverEntry): void {
    const card = this.cards.get(target);
    if (!card) {
      return;
    }
    if (isIntersecting) {
      this.inSight.add(card);
      draw(card);
    } else {
      this.inSight.delete(card);
      this.close(card);
    }
  }

  // Its picture remains.
  private close(card: Card): void {
    if (card.state === "open") {
      card.state = "closed";
      void this.engine.ask({ ask: "close", name: card.name });
    }
  }

  private point(card: Card): void {
    this.pointedAt = card;
    if (card.state === "done") {
      card.state = "closed";
    }
  }

  // The card under the pointer has every other turn.
  private next(): Card | null {
    const waiting = [...this.inSight].filter(({ state }) => state !== "done" && state !== "refused");
    const first = waiting.reduce<Card | null>((best, card) => (best && best.last <= card.last ? best : card), null);
    const favourite = this.pointedAt && waiting.includes(this.pointedAt) ? this.pointedAt : null;
    return favourite && first && performance.now() - favourite.last > 30 ? favourite : first;
  }

  private async work(card: Card): Promise<void> {
    const now = performance.now();
    const elapsed = Math.min(now - card.last, 200);
    card.last = now;
    try {
      if (card.state === "unknown") {
        await this.describe(card);
      } else if (card.run) {
        await this.advance(card, card.run, elapsed);
      }
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      card.state = "refused";
      card.facts.textContent = error.message;
    }
  }

  private async describe(card: Card): Promise<void> {
    const description = await this.engine.ask<Description>({ ask: "describe", scenario: { toml: card.toml, seed: 1 } });
    const isLarge = description.flow_count > FLOWS;
    card.facts.textContent = `${summary(description)}${isLarge ? ": too many for a preview" : ""}`;
    card.run = new Run(description);
    card.state = isLarge ? "refused" : "closed";
    draw(card);
  }

  private async advance(card: Card, run: Run, elapsed: number): Promise<void> {
    const { duration_s } = run.description;
    if (card.state === "closed") {
      run.clear();
      card.target = 0;
      card.state = "open";
      await this.engine.ask({ ask: "open", name: card.name, scenario: { toml: card.toml, seed: 1 }, close: false });
    }
    // With reduced motion, the whole run is one picture.
    card.target = this.still.matches ? duration_s : Math.min(duration_s, card.target + (duration_s * elapsed) / SHOWN);
    // It may have become invisible meanwhile.
    if (card.state !== "open") {
      void this.engine.ask({ ask: "close", name: card.name });
      return;
    }
    const at = await this.engine.ask<{ now_s: number; done: boolean }>({ ask: "advance", name: card.name, until_s: card.target, events: EVENTS, breaks: {} });
    // If the core is slower than the preview, the preview follows the core.
    card.target = at.done ? duration_s : Math.min(card.target, at.now_s);
    if (card.state !== "open") {
      return;
    }
    if (!this.still.matches || at.done) {
      run.take(await this.engine.read(card.name, 0));
      draw(card);
    }
    if (at.done) {
      this.close(card);
      card.state = "done";
    }
  }
}

function summary({ flow_count, observed, ports }: Description): string {
  const slowest = observed.ports.map((id) => ports[id]).reduce((min, port) => (port && (!min || port.rate_bps < min.rate_bps) ? port : min), undefined);
  const link = slowest ? ` \u00b7 ${rate(slowest.rate_bps * slowest.transmitters)} \u00b7 ${slowest.policy ?? "user code"}` : "";
  return `${count(flow_count)} ${flow_count === 1 ? "flow" : "flows"}${link}`;
}

function draw({ canvas, run }: Card): void {
  const width = canvas.clientWidth;
  const ctx = canvas.getContext("2d");
  if (!ctx || width === 0) {
    return;
  }
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = HEIGHT * ratio;
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, HEIGHT);
  if (!run) {
    return;
  }
  const { duration_s, observed } = run.description;
  const hasWindows = observed.flows.some((flow) => run.curves.has(`cwnd:${flow}`));
  const x = (time: number) => (time / duration_s) * width;
  const band = (from: number, to: number, names: string[], colour: (place: number) => string) => {
    const max = Math.max(...names.map((name) => largest(run.curves.get(name), [0, duration_s])), 1);
    const y = (value: number) => to - 1 - (Math.min(value / max, 1) * (to - from - 4));
    names.forEach((name, place) => {
      const curve = run.curves.get(name);
      if (curve) {
        ctx.strokeStyle = colour(place);
        ctx.lineWidth = 1.2;
        trace(ctx, curve, [0, duration_s], duration_s, run.now, true, x, y);
      }
    });
  };
  const middle = hasWindows ? HEIGHT * WINDOWS : 0;
  if (hasWindows) {
    band(0, middle, observed.flows.map((flow) => `cwnd:${flow}`), flowColour);
  }
  band(middle, HEIGHT, observed.ports.map((port) => `queue:${port}`), (place) => ink(place === 0 ? "--line" : "--rule"));
  ctx.fillStyle = ink("--hair");
  ctx.fillRect(0, middle, width, hasWindows ? 1 : 0);
  let before = -2;
  for (const drop of run.drops) {
    const at = x(drop.time_s);
    if (at - before >= 2) {
      ctx.fillStyle = reasonColour(drop.reason);
      ctx.fillRect(at, middle + 2, 1.5, 4);
      before = at;
    }
  }
}
