// Curves over time that update during a run: uPlot provides axes, cursor and zoom; the lines are drawn from the run's data.

import uPlot from "uplot";
import { touch } from "../src/touch";
import type { Drop } from "./answers";
import { ink, reasonColour } from "./colours";
import { fill, make } from "./dom";
import { after, first, type Curve } from "./run";
import { digits } from "./words";

export interface Line {
  name: string;
  colour(): string;
  dash: number[];
  width: number;
  curve(): Curve | undefined;
  // Whether values hold until the next one; otherwise they are interpolated.
  steps: boolean;
  // It may exceed the top of the panel.
  isGuide?: boolean;
}

// A horizontal line across the panel.
export interface ReferenceLine {
  value: number;
  label: string;
  colour(): string;
}

// Counts of one time bin, by colour.
export interface Bar {
  from: number;
  to: number;
  parts: { colour: string; count: number }[];
}

export interface PanelOptions {
  title: string;
  unit: string;
  // Factor applied to values.
  scale: number;
  lines: Line[];
  referenceLines?: ReferenceLine[];
  // Marks at the upper edge, in the order of time.
  losses?: () => Drop[];
  bars?: () => Bar[];
  // Meaning of the colours, and the values at the time under the pointer.
  key?: (time: number | null) => KeyEntry[];
}

export interface KeyEntry {
  colour: string;
  text: string;
}

export interface CurveListener {
  hover(time: number | null): void;
  // A click at a time; `loss`: the loss whose mark was hit.
  choose(time: number, loss: Drop | null): void;
  zoom(from: number, to: number): void;
  all(): void;
}

const HEIGHT = 190;
const FONT = "11px system-ui, sans-serif";
// Pixels.
const NEAR = 7;
// Size of a touch target for marks at the upper edge.
const MARKS = 28;
// Dashes of reference lines, which no curve uses.
const REFERENCE_DASH = [8, 3, 2, 3];

export class Panel {
  readonly plot: uPlot;
  readonly place: HTMLElement;
  // The same panel of the other variant: both share one scale.
  peer: Panel | null = null;
  private readonly key: HTMLElement;
  private window: [number, number];
  private highest = 0;
  private top = 1;
  private pointedAt: number | null = null;
  cursor: number | null = null;
  now: number | null = null;

  constructor(readonly options: PanelOptions, duration: number, private readonly watcher: CurveListener) {
    this.window = [0, duration];
    this.place = document.createElement("figure");
    this.place.className = "panel";
    const caption = this.place.appendChild(document.createElement("figcaption"));
    caption.textContent = `${options.title}, ${options.unit}`;
    this.place.setAttribute("aria-label", caption.textContent);
    this.place.setAttribute("role", "img");
    this.key = caption.appendChild(make("span", { class: "key" }));
    const axis = (size: number): uPlot.Axis => ({
      font: FONT,
      size,
      stroke: () => ink("--soft"),
      grid: { stroke: () => ink("--hair"), width: 1 },
      ticks: { stroke: () => ink("--rule"), width: 1, size: 4 },
      values: (_u, splits) => splits.map((value) => (value === null ? "" : digits(value, 5))),
    });
    this.plot = new uPlot(
      {
        width: 400,
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: false, range: () => this.window }, y: { range: () => [0, this.top] } },
        axes: [{ ...axis(26), space: 60 }, { ...axis(50), space: 34 }],
        series: [{}, { show: true, paths: () => null, points: { show: false } }],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false, dist: 5 },
          bind: { dblclick: () => () => (watcher.all(), null) },
        },
        hooks: {
          draw: [() => this.draw()],
          setCursor: [(u) => watcher.hover(u.cursor.left === undefined || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x"))],
          setSelect: [
            (u) => {
              if (u.select.width > 5) {
                watcher.zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
                u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              }
            },
          ],
        },
        plugins: [touch(() => watcher.all(), (_u, from, to) => watcher.zoom(from, to))],
      },
      [[0, duration], [null, null]],
      this.place,
    );
    this.plot.over.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => {
      const width = Math.max(this.place.clientWidth, 120);
      if (Math.abs(width - this.plot.width) > 1) {
        this.plot.setSize({ width, height: HEIGHT });
      }
    }).observe(this.place);
  }

  private clicked(event: MouseEvent): void {
    const place = this.plot.over.getBoundingClientRect();
    const left = event.clientX - place.left;
    const time = this.plot.posToVal(left, "x");
    const isAmongMarks = event.clientY - place.top <= MARKS;
    this.watcher.choose(Math.max(0, time), isAmongMarks ? this.lossNear(time, this.plot.posToVal(left + NEAR, "x") - time) : null);
  }

  private lossNear(time: number, max: number): Drop | null {
    const losses = this.options.losses?.() ?? [];
    const place = beyond(losses, time);
    const off = (loss: Drop | undefined) => (loss ? Math.abs(loss.time_s - time) : Infinity);
    const [before, next] = [losses[place - 1], losses[place]];
    const nearest = off(before) <= off(next) ? before : next;
    return nearest && off(nearest) <= max ? nearest : null;
  }

  show(window: [number, number]): void {
    this.window = window;
  }

  // Redraws the panel.
  update(): void {
    const { referenceLines, bars, scale } = this.options;
    let top = 0;
    for (const line of this.options.lines.filter((one) => !one.isGuide)) {
      top = Math.max(top, largest(line.curve(), this.window) * scale);
    }
    for (const bar of bars?.() ?? []) {
      if (bar.to >= this.window[0] && bar.from <= this.window[1]) {
        top = Math.max(top, bar.parts.reduce((sum, part) => sum + part.count, 0));
      }
    }
    const reachable = (referenceLines ?? []).map((reference) => reference.value * scale).filter((value) => value < 4 * top);
    this.highest = Math.max(top, ...reachable);
    const both = Math.max(this.highest, this.peer?.highest ?? 0);
    this.top = both > 0 ? both * 1.08 : 1;
    this.plot.setData(this.plot.data, true);
    this.showValues(this.pointedAt);
  }

  // Updates the legend, with values at the time under the pointer, if any.
  showValues(time: number | null): void {
    this.pointedAt = time;
    const entries = this.options.key?.(time) ?? [];
    const text = entries.map((entry) => entry.text).join();
    if (text !== this.key.dataset["text"]) {
      this.key.dataset["text"] = text;
      fill(this.key, ...entries.map((entry) => make("span", {}, swatch(entry.colour), entry.text)));
    }
  }

  hover(time: number | null): void {
    const left = time === null ? -10 : this.plot.valToPos(time, "x");
    this.plot.setCursor({ left, top: time === null ? -10 : 0 }, false);
  }

  private draw(): void {
    const u = this.plot;
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    // Both scales are linear. Calling uPlot for each of several hundred thousand points would take longer than a frame.
    const x = linear((time) => u.valToPos(time, "x", true), this.window);
    const y = linear((value) => u.valToPos(value * this.options.scale, "y", true), [0, this.top / this.options.scale]);
    this.drawBars(x);
    for (const line of this.options.lines) {
      const curve = line.curve();
      if (curve) {
        ctx.strokeStyle = line.colour();
        ctx.lineWidth = line.width * devicePixelRatio;
        ctx.setLineDash(line.dash.map((length) => length * devicePixelRatio));
        trace(ctx, curve, this.window, this.plot.scales.x?.max ?? this.window[1], this.now, line.steps, x, y);
      }
    }
    ctx.setLineDash([]);
    this.drawReferenceLines(y);
    this.drawMarks(x);
    if (this.cursor !== null) {
      upright(ctx, [x(this.cursor), bbox.top, x(this.cursor), bbox.top + bbox.height], ink("--accent"), [6, 3]);
    }
    ctx.restore();
  }

  // Labels are below their lines, and side by side where lines are close. They have a background of their own, above everything else.
  private drawReferenceLines(y: (value: number) => number): void {
    const { ctx, bbox } = this.plot;
    const size = 10 * devicePixelRatio;
    ctx.font = `${size}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    const shown = (this.options.referenceLines ?? []).filter(({ value }) => value * this.options.scale <= this.top);
    for (const { value, colour } of shown) {
      const at = y(value);
      const across: [number, number, number, number] = [bbox.left, at, bbox.left + bbox.width, at];
      // Visible on any background; curves below remain visible between the dashes.
      ctx.globalAlpha = 0.7;
      upright(ctx, across, ink("--ground"), REFERENCE_DASH, 3);
      ctx.globalAlpha = 1;
      upright(ctx, across, colour(), REFERENCE_DASH, 1.4);
    }
    const named: { at: number; left: number }[] = [];
    for (const { value, label, colour } of shown.filter((reference) => reference.label !== "")) {
      const at = y(value);
      const beside = named.filter((other) => Math.abs(other.at - at) < 1.1 * size).map((other) => other.left);
      const right = Math.min(bbox.left + bbox.width - 4, ...beside.map((left) => left - size));
      const below = at + 1.1 * size < bbox.top + bbox.height ? 1.1 * size : -0.4 * size;
      const { width } = ctx.measureText(label);
      const edge = 0.3 * size;
      ctx.fillStyle = ink("--ground");
      ctx.fillRect(right - width - edge, at + below - 0.9 * size, width + 2 * edge, 1.2 * size);
      ctx.fillStyle = colour();
      ctx.fillText(label, right, at + below);
      named.push({ at, left: right - width });
    }
  }

  private drawBars(x: (time: number) => number): void {
    const { ctx, bbox } = this.plot;
    for (const bar of this.options.bars?.() ?? []) {
      const [left, right] = [x(bar.from), x(bar.to)];
      if (right < bbox.left || left > bbox.left + bbox.width) {
        continue;
      }
      let sum = 0;
      for (const part of bar.parts) {
        const [low, high] = [this.plot.valToPos(sum, "y", true), this.plot.valToPos(sum + part.count, "y", true)];
        ctx.fillStyle = part.colour;
        ctx.fillRect(left, high, Math.max(right - left, 2 * devicePixelRatio), low - high);
        sum += part.count;
      }
    }
  }

  // Draws one mark per column of pixels.
  private drawMarks(x: (time: number) => number): void {
    const { ctx, bbox } = this.plot;
    const size = 3.5 * devicePixelRatio;
    const losses = this.options.losses?.() ?? [];
    const column = (2 * devicePixelRatio * (this.window[1] - this.window[0])) / bbox.width;
    let place = beyond(losses, this.window[0]);
    for (let loss = losses[place]; loss && loss.time_s <= this.window[1]; loss = losses[place]) {
      const at = x(loss.time_s);
      const middle = bbox.top + size + 2;
      ctx.strokeStyle = reasonColour(loss.reason);
      ctx.lineWidth = 1.6 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(at - size, middle - size);
      ctx.lineTo(at + size, middle + size);
      ctx.moveTo(at + size, middle - size);
      ctx.lineTo(at - size, middle + size);
      ctx.stroke();
      place = beyond(losses, loss.time_s + column);
    }
  }
}

function swatch(colour: string): SVGSVGElement {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const square = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: 10, height: 10, fill: colour })) {
    square.setAttribute(name, String(value));
  }
  picture.append(square);
  return picture;
}

function linear(of: (value: number) => number, [from, to]: [number, number]): (value: number) => number {
  const start = of(from);
  const slope = (of(to) - start) / (to - from);
  return (value) => start + (value - from) * slope;
}

// The index of the first loss after a time.
function beyond(losses: Drop[], time: number): number {
  return first(losses.length, (place) => (losses[place] as Drop).time_s > time);
}

function upright(ctx: CanvasRenderingContext2D, [x1, y1, x2, y2]: [number, number, number, number], colour: string, dash: number[], width = 1): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
  ctx.setLineDash([]);
}

// The largest value in the visible part of a curve, including the value that holds at its beginning.
export function largest(curve: Curve | undefined, [from, to]: [number, number]): number {
  let max = 0;
  if (curve) {
    const end = after(curve.x, to);
    for (let at = Math.max(0, after(curve.x, from) - 1); at < end; at++) {
      const value = curve.y[at] as number;
      if (value > max && value < 1e9) {
        max = value;
      }
    }
  }
  return max;
}

// A line through the visible points; for points in one column of pixels, the first, the extremes and the last.
export function trace(
  ctx: CanvasRenderingContext2D,
  curve: Curve,
  [from, to]: [number, number],
  edge: number,
  now: number | null,
  steps: boolean,
  x: (time: number) => number,
  y: (value: number) => number,
): void {
  const begin = Math.max(0, after(curve.x, from) - 1);
  const end = Math.min(curve.x.length, after(curve.x, to) + 1);
  if (begin >= end) {
    return;
  }
  ctx.beginPath();
  let column = -Infinity;
  let min = 0;
  let max = 0;
  let last = 0;
  let begun = false;
  const finish = () => {
    if (min !== max) {
      ctx.lineTo(column, min);
      ctx.lineTo(column, max);
    }
    ctx.lineTo(column, last);
  };
  for (let at = begin; at < end; at++) {
    const place = Math.round(x(curve.x[at] as number));
    const height = y(Math.min(curve.y[at] as number, 1e9));
    if (place !== column) {
      if (begun) {
        finish();
        if (steps) {
          ctx.lineTo(place, last);
        }
        ctx.lineTo(place, height);
      } else {
        ctx.moveTo(place, height);
        begun = true;
      }
      column = place;
      min = height;
      max = height;
    }
    min = Math.min(min, height);
    max = Math.max(max, height);
    last = height;
  }
  finish();
  if (steps && now !== null && end === curve.x.length) {
    ctx.lineTo(x(Math.min(now, edge)), last);
  }
  ctx.stroke();
}
