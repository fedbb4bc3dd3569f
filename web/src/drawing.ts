// Curves on a canvas, from their own numbers: x values may repeat, and each curve has its own.

import type uPlot from "uplot";
import { type Curve, ink, inked, type ReferenceLine } from "./figure";

const DASHES = { solid: [], dashed: [5, 3], dotted: [1.5, 2.5], none: [] };

export function drawCurve(u: uPlot, curve: Curve): void {
  const ctx = u.ctx;
  const pixel = devicePixelRatio;
  const x = curve.x.map((value) => u.valToPos(value, "x", true));
  // Values that a logarithmic axis cannot show are drawn below it.
  const floor = u.bbox.top + u.bbox.height + 10 * pixel;
  const place = (value: number) => {
    const at = u.valToPos(value, "y", true);
    return Number.isFinite(at) ? at : floor;
  };
  const heights = (values: (number | null)[]) => values.map((value) => (value === null ? null : place(value)));
  const y = heights(curve.y);
  within(u, () => {
    ctx.strokeStyle = ctx.fillStyle = inked(curve.colour);
    ctx.lineWidth = 1.4 * pixel;
    const low = heights(curve.low);
    const high = heights(curve.high);
    if (curve.bars) {
      bars(ctx, x, low, high);
    } else {
      shade(ctx, 0.18, () => band(ctx, x, low, high));
    }
    if (curve.filled) {
      const ground = y.map((at) => (at === null ? null : place(0)));
      shade(ctx, 0.35, () => band(ctx, ...stairs(x, ground, y)));
    }
    if (curve.line !== "none") {
      ctx.setLineDash(DASHES[curve.line].map((length) => length * pixel));
      polyline(ctx, ...(curve.steps ? stairs(x, y).slice(0, 2) : [x, y]) as [number[], Heights]);
      ctx.setLineDash([]);
    }
    marks(ctx, curve.mark, x, y, pixel);
  });
}

export function drawReferenceLines(u: uPlot, referenceLines: ReferenceLine[]): void {
  const ctx = u.ctx;
  within(u, () => {
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash(DASHES.dotted.map((length) => length * devicePixelRatio));
    for (const reference of referenceLines) {
      const at = u.valToPos(reference.value, reference.upright ? "x" : "y", true);
      const { left, top, width, height } = u.bbox;
      ctx.strokeStyle = reference.colour ? inked(reference.colour) : ink("--faint");
      ctx.beginPath();
      ctx.moveTo(reference.upright ? at : left, reference.upright ? top : at);
      ctx.lineTo(reference.upright ? at : left + width, reference.upright ? top + height : at);
      ctx.stroke();
    }
  });
}

type Heights = (number | null)[];

// Draws, clipped to the panel.
function within(u: uPlot, draw: () => void): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

function shade(ctx: CanvasRenderingContext2D, alpha: number, draw: () => void): void {
  ctx.globalAlpha = alpha;
  draw();
  ctx.globalAlpha = 1;
}

// Steps: values hold until the next x.
function stairs(x: number[], ...rows: Heights[]): [number[], ...Heights[]] {
  const places = x.flatMap((at, turn) => (turn ? [at, at] : [at]));
  const held = rows.map((y) => y.flatMap((at, turn) => (turn ? [y[turn - 1] ?? null, at] : [at])));
  return [places, ...held];
}

function polyline(ctx: CanvasRenderingContext2D, x: number[], y: Heights): void {
  ctx.beginPath();
  let down = false;
  x.forEach((at, turn) => {
    const height = y[turn] ?? null;
    if (height !== null) {
      down ? ctx.lineTo(at, height) : ctx.moveTo(at, height);
    }
    down = height !== null;
  });
  ctx.stroke();
}

// A band between two edges, in pieces where both edges are known at both ends.
function band(ctx: CanvasRenderingContext2D, x: number[], low: Heights = [], high: Heights = []): void {
  ctx.beginPath();
  for (let turn = 1; turn < low.length; turn++) {
    const corners = [low[turn - 1], low[turn], high[turn], high[turn - 1]];
    const places = [x[turn - 1], x[turn], x[turn], x[turn - 1]];
    if (corners.every((at) => at !== null && at !== undefined)) {
      corners.forEach((at, corner) => ctx[corner ? "lineTo" : "moveTo"](places[corner] as number, at as number));
      ctx.closePath();
    }
  }
  ctx.fill();
}

function bars(ctx: CanvasRenderingContext2D, x: number[], low: Heights, high: Heights): void {
  ctx.beginPath();
  x.forEach((at, turn) => {
    const [from, to] = [low[turn] ?? null, high[turn] ?? null];
    if (from !== null && to !== null) {
      ctx.moveTo(at, from);
      ctx.lineTo(at, to);
    }
  });
  ctx.stroke();
}

function marks(ctx: CanvasRenderingContext2D, mark: Curve["mark"], x: number[], y: Heights, pixel: number): void {
  const size = (mark === "x" || mark === "ring" ? 3.2 : 2.2) * pixel;
  ctx.beginPath();
  x.forEach((at, turn) => {
    const height = y[turn] ?? null;
    if (height === null) {
      return;
    }
    if (mark === "o" || mark === "ring") {
      ctx.moveTo(at + size, height);
      ctx.arc(at, height, size, 0, 2 * Math.PI);
    } else if (mark === "s") {
      ctx.rect(at - size, height - size, 2 * size, 2 * size);
    } else if (mark) {
      ctx.moveTo(at - size, height - (mark === "x" ? size : 0));
      ctx.lineTo(at + size, height + (mark === "x" ? size : 0));
      if (mark === "x") {
        ctx.moveTo(at - size, height + size);
        ctx.lineTo(at + size, height - size);
      }
    }
  });
  if (mark === "ring") {
    ctx.fillStyle = ink("--ground");
  }
  if (mark === "o" || mark === "s" || mark === "ring") {
    ctx.fill();
  }
  if (mark !== "o" && mark !== "s") {
    ctx.stroke();
  }
}
