// What a figure's JSON holds, as tailback/_pictures.py writes it for reports and tools/panels.py for the site.

export interface Figure {
  panels: Panel[];
  // That stand side by side where there is room; all if not said.
  columns?: number;
  // What belongs to all panels.
  words?: string;
}

export interface Panel {
  title: string;
  x: Axis;
  y: Axis;
  curves: Curve[];
  levels: Level[];
}

export interface Axis {
  label: string;
  log: boolean;
  low: number;
  high: number;
}

// null: nothing is known there, and the line has a gap.
type Numbers = (number | null)[];

export interface Curve {
  name: string;
  x: number[];
  y: Numbers;
  // Ends of intervals; empty without.
  low: Numbers;
  high: Numbers;
  colour: string;
  line: "solid" | "dashed" | "dotted" | "none";
  mark: "" | "o" | "ring" | "x" | "s" | "_";
  steps: boolean;
  // Intervals as bars instead of a band.
  bars: boolean;
  // The area down to zero.
  filled: boolean;
}

export interface Level {
  label: string;
  value: number;
  // At a place instead of at a height.
  upright?: boolean;
  colour?: string;
}

// An ink of the page: "--soft".
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name) || "gray";
}

// A colour of the picture for the ground that the page has now.
export function inked(colour: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable(colour)) || colour;
}

// The same for a style sheet, which follows the ground by itself.
export function inkedStyle(colour: string): string {
  return `var(${variable(colour)}, ${colour})`;
}

function variable(colour: string): string {
  return `--on-${colour.slice(1)}`;
}

const PREFIXES: [number, string][] = [
  [1e9, " G"],
  [1e6, " M"],
];

// A number as an axis or the legend has it: no more digits than tell.
export function written(value: number, digits = 4): string {
  const [unit, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  const rounded = Number((value / unit).toPrecision(digits));
  const small = rounded !== 0 && Math.abs(rounded) < 1e-3;
  const text = small ? rounded.toExponential() : rounded.toString();
  return text.replaceAll("-", "\u2212") + prefix;
}
