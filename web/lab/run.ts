// What the page has of a run: curves, losses, changes of state, and how everything stands.

import type { Description, Drop, Reading, StateChange } from "./answers";

// Losses and changes of state that are kept; the first go first.
const KEPT = 20_000;

export interface Curve {
  x: number[];
  y: number[];
}

export class Run {
  readonly curves = new Map<string, Curve>();
  readonly lost = new Map<number, number[]>();
  readonly drops: Drop[] = [];
  readonly states: StateChange[] = [];
  reading: Reading | null = null;

  constructor(readonly description: Description) {}

  clear(): void {
    this.curves.clear();
    this.lost.clear();
    this.drops.length = 0;
    this.states.length = 0;
    this.reading = null;
  }

  take(reading: Reading): void {
    for (const [name, { replace, x, y }] of Object.entries(reading.series)) {
      let curve = this.curves.get(name);
      if (!curve) {
        curve = { x: [], y: [] };
        this.curves.set(name, curve);
      }
      curve.x.length -= replace;
      curve.y.length -= replace;
      for (let at = 0; at < x.length; at++) {
        curve.x.push(x[at] as number);
        curve.y.push(y[at] as number);
      }
    }
    for (const [bin, counts] of reading.lost) {
      this.lost.set(bin, counts);
    }
    keep(this.drops, reading.drops);
    keep(this.states, reading.states);
    this.reading = reading;
  }

  get now(): number {
    return this.reading?.now_s ?? 0;
  }

  // The last value of a curve at or before a time.
  at(name: string, time: number): number | null {
    const curve = this.curves.get(name);
    const place = curve ? after(curve.x, time) - 1 : -1;
    return curve && place >= 0 ? (curve.y[place] ?? null) : null;
  }
}

// The first go many at a time: to move all others takes as long for one as for thousands.
function keep<Row>(all: Row[], rows: Row[]): void {
  all.push(...rows);
  if (all.length > 1.25 * KEPT) {
    all.splice(0, all.length - KEPT);
  }
}

// The place of the first value above `value` in ascending ones.
export function after(values: number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
