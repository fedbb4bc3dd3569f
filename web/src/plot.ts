// A panel as a plot: drag to zoom, double click or double tap to reset, values under the cursor in the legend.

import uPlot from "uplot";
import { drawCurve, drawReferenceLines } from "./drawing";
import { type Axis, type Curve, ink, inked, inkedStyle, type Panel, written } from "./figure";
import { touch } from "./touch";

const FONT = "12px sans-serif";

export function plot(panel: Panel, place: HTMLElement, height: number): uPlot {
  const limits = { x: panel.x, y: panel.y };
  const all = (u: uPlot) => {
    u.batch(() => {
      u.setScale("x", { min: panel.x.low, max: panel.x.high });
      u.setScale("y", { min: panel.y.low, max: panel.y.high });
    });
    return null;
  };
  const scale = (axis: Axis): uPlot.Scale => ({
    time: false,
    auto: false,
    distr: axis.log ? 3 : 1,
    range: (_u, low, high) => [low ?? axis.low, high ?? axis.high],
  });
  const options: uPlot.Options = {
    width: place.clientWidth,
    height,
    scales: { x: { ...scale(limits.x) }, y: { ...scale(limits.y) } },
    axes: [{ ...axis(panel.x, 50), size: 30 }, { ...axis(panel.y, 40), size: 56 }],
    series: [
      { label: panel.x.label, value: (_u, value) => (value === null ? "\u2013" : written(value, 5)) },
      ...panel.curves.map(series),
    ],
    cursor: { drag: { x: true, y: true, uni: 30, dist: 4 }, bind: { dblclick: (u) => () => all(u) }, points: { show: false }, dataIdx: (u, turn, place) => read(u, panel.curves, turn, place) },
    legend: { markers: { width: 2, stroke: (_u, turn) => colourOf(panel.curves, turn), dash: (_u, turn) => dashOf(panel.curves, turn) } },
    plugins: [touch(all)],
    hooks: {
      drawAxes: [(u) => drawReferenceLines(u, panel.levels)],
      drawSeries: [(u, turn) => { const curve = panel.curves[turn - 1]; if (curve) drawCurve(u, curve); }],
    },
  };
  const made = new uPlot(options, joined(panel.curves), place);
  all(made);
  return made;
}

function axis(given: Axis, space: number): uPlot.Axis {
  const made: uPlot.Axis = {
    label: given.label,
    labelSize: 22,
    labelFont: FONT,
    font: FONT,
    space,
    stroke: () => ink("--soft"),
    grid: { stroke: () => ink("--hair"), width: 1 },
    ticks: { stroke: () => ink("--rule"), width: 1, size: 5 },
    values: (_u, splits) => splits.map((value) => (value === null ? "" : written(value))),
  };
  if (given.log) {
    made.splits = (_u, _axis, low, high) => decades(low, high);
    made.filter = (_u, splits) => splits;
  }
  return made;
}

// Round values of a logarithmic axis: powers of ten, with intermediate values as space permits.
export function decades(low: number, high: number): number[] {
  const span = Math.log10(high / low);
  const first = Math.floor(Math.log10(low));
  const every = Math.ceil(span / 8);
  const between = span > 3 ? [1] : span > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  const found = [];
  for (let power = first; power <= Math.log10(high); power++) {
    if ((power - first) % every === 0) {
      found.push(...between.map((part) => Number((part * 10 ** power).toPrecision(3))));
    }
  }
  const seen = found.filter((value) => value >= low && value <= high);
  return seen.length > 1 ? seen : [low, (low * high) ** 0.5, high].map((value) => Number(value.toPrecision(3)));
}

function series(curve: Curve): uPlot.Series {
  return {
    label: curve.name,
    stroke: () => inked(curve.colour),
    // Curves are drawn from their own numbers; uPlot's data are for the legend.
    paths: () => null,
    points: { show: false },
    value: (u, _value, _turn, place) => (place === null || place === undefined ? "\u2013" : valuesText(curve, u.data[0][place] as number)),
  };
}

// Index at which a curve is read: the cursor's position for marks, which have no values in between, otherwise the nearest known one.
function read(u: uPlot, curves: Curve[], turn: number, place: number): number {
  const known = u.data[turn] ?? [];
  if (curves[turn - 1]?.line === "none") {
    return place;
  }
  for (let off = 0; off < known.length; off++) {
    const near = [place - off, place + off].find((at) => (known[at] ?? null) !== null);
    if (near !== undefined) {
      return near;
    }
  }
  return place;
}

// All values of a curve at one x, with their intervals.
function valuesText(curve: Curve, place: number): string {
  const found = curve.x.flatMap((at, turn) => {
    const value = curve.y[turn] ?? null;
    if (at !== place || value === null) {
      return [];
    }
    const [low, high] = [curve.low[turn] ?? null, curve.high[turn] ?? null];
    const ends = low === null || high === null || low === high ? "" : ` (${written(low)} to ${written(high)})`;
    return [written(value) + ends];
  });
  const shown = found.slice(0, 3).join(", ");
  return found.length > 3 ? `${shown}, ... (${found.length})` : shown || "\u2013";
}

function colourOf(curves: Curve[], turn: number): string {
  const curve = curves[turn - 1];
  return curve ? inkedStyle(curve.colour) : "none";
}

function dashOf(curves: Curve[], turn: number): string {
  const line = curves[turn - 1]?.line ?? "solid";
  return line === "none" ? "solid" : line;
}

// The curves over all x values, as uPlot requires to find the values next to the cursor.
function joined(curves: Curve[]): uPlot.AlignedData {
  const tables = curves.map((curve): uPlot.AlignedData => {
    const values = new Map(curve.x.map((at, turn) => [at, curve.y[turn] ?? null]));
    const places = [...values.keys()].sort((one, other) => one - other);
    return [places, places.map((at) => values.get(at) ?? null)];
  });
  return uPlot.join(tables);
}
