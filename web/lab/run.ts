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
  drops: Drop[] = [];
  states: StateChange[] = [];
  reading: Reading | null = null;

  constructor(readonly description: Description) {}

  clear(): void {
    this.curves.clear();
    this.lost.clear();
    this.drops = [];
    this.states = [];
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
    this.drops = kept(this.drops, reading.drops);
    this.states = kept(this.states, reading.states);
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

function kept<Row>(before: Row[], rows: Row[]): Row[] {
  const all = rows.length ? before.concat(rows) : before;
  return all.length > KEPT ? all.slice(all.length - KEPT) : all;
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
