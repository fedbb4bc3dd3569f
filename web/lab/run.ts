// The page's data of a run: curves, losses, state changes, and the current state.

import type { Description, Drop, RunUpdate, StateChange } from "./answers";

// Maximum number of losses and state changes stored; the oldest are dropped first, many at a time.
const KEPT = 20_000;
const MARKS = 2048;

export interface Curve {
  x: number[];
  y: number[];
}

export class Run {
  readonly curves = new Map<string, Curve>();
  readonly lost = new Map<number, number[]>();
  readonly drops: Drop[] = [];
  readonly states: StateChange[] = [];
  update: RunUpdate | null = null;

  constructor(readonly description: Description) {}

  clear(): void {
    this.curves.clear();
    this.lost.clear();
    this.drops.length = 0;
    this.states.length = 0;
    this.update = null;
  }

  take(update: RunUpdate): void {
    for (const [name, { replace, x, y }] of Object.entries(update.series)) {
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
    for (const [bin, counts] of update.lost) {
      this.lost.set(bin, counts);
    }
    this.drops.push(...update.drops);
    if (this.drops.length > 1.25 * KEPT) {
      this.thin();
    }
    this.states.push(...update.states);
    if (this.states.length > 1.25 * KEPT) {
      this.states.splice(0, this.states.length - KEPT);
    }
    this.update = update;
  }

  // Keeps one of the oldest losses per time interval: as many as can be distinguished when the whole run is visible.
  private thin(): void {
    const span = this.description.duration_s / MARKS;
    let last = -1;
    const left = this.drops.splice(0, this.drops.length - KEPT).filter(({ time_s }) => {
      const number = Math.floor(time_s / span);
      const isFirst = number > last;
      last = number;
      return isFirst;
    });
    this.drops.unshift(...left);
  }

  get now(): number {
    return this.update?.now_s ?? 0;
  }

  // The last value of a curve at or before a time.
  at(name: string, time: number): number | null {
    const curve = this.curves.get(name);
    const place = curve ? after(curve.x, time) - 1 : -1;
    return curve && place >= 0 ? (curve.y[place] ?? null) : null;
  }
}

// The index of the first value above `value` in an ascending list.
export function after(values: number[], value: number): number {
  return first(values.length, (place) => (values[place] as number) > value);
}

// The first index from which a condition holds, or `count` if it never does.
export function first(count: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
