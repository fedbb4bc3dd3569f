// The JSON data of a figure, as written by tailback/_html/pictures.py for reports and tools/panels.py for the site.

export interface Figure {
  panels: Panel[];
  // Number of panels side by side where there is room; all if omitted.
  columns?: number;
  // Text for all panels.
  words?: string;
}

export interface Panel {
  title: string;
  x: Axis;
  y: Axis;
  curves: Curve[];
  levels: ReferenceLine[];
}

export interface Axis {
  label: string;
  log: boolean;
  low: number;
  high: number;
}

// null: no value, and the line has a gap.
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
  // Whether the area down to zero is filled.
  filled: boolean;
}

export interface ReferenceLine {
  label: string;
  value: number;
  // Whether the line is vertical.
  upright?: boolean;
  colour?: string;
}

// A colour variable of the page: "--soft".
export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name) || "gray";
}

// A colour of the picture for the page's current background.
export function inked(colour: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable(colour)) || colour;
}

// The same for a style sheet, which follows the background by itself.
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

// Formats a number for an axis or the legend, with no more digits than necessary.
export function written(value: number, digits = 4): string {
  const [unit, prefix] = PREFIXES.find(([min]) => Math.abs(value) >= min) ?? [1, ""];
  const rounded = Number((value / unit).toPrecision(digits));
  const small = rounded !== 0 && Math.abs(rounded) < 1e-3;
  const text = small ? rounded.toExponential() : rounded.toString();
  return text.replaceAll("-", "\u2212") + prefix;
}
