// The seed is part of the scenario's text; the field next to Run is another way to set it.

import type { Knob } from "./answers";
import type { Engine } from "./engine";

// The seed of a text without one.
const UNNAMED = 1;
export const SEEDS = `a seed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;

// The typed seed, if valid.
export function seedTyped(text: string): number | null {
  const seed = Number(text.trim());
  return /^\d+$/.test(text.trim()) && Number.isSafeInteger(seed) ? seed : null;
}

// The seed of a text. The core locates it, because it may be written as 1_000 or 0x3e8.
export function seedOf(toml: string, knobs: Knob[]): number {
  const knob = knobs.find(({ at }) => at === "seed");
  if (!knob) {
    return UNNAMED;
  }
  const written = new TextDecoder().decode(new TextEncoder().encode(toml).subarray(knob.from, knob.to));
  const seed = Number(written.replaceAll("_", ""));
  return Number.isSafeInteger(seed) && seed >= 0 ? seed : UNNAMED;
}

// The text with this seed.
export async function seeded(engine: Engine, toml: string, seed: number): Promise<string> {
  return (await engine.ask<{ toml: string }>({ ask: "edit", toml, edits: [{ at: "seed", value: seed }] })).toml;
}
