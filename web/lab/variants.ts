// What is open: a scenario, or two side by side with one seed.

import { Fault, type Description, type Knob, type Of, type Problem } from "./answers";
import { byId } from "./dom";
import type { Engine } from "./engine";
import type { Pane } from "./pane";

export interface Variant {
  name: "A" | "B";
  // As it stands in the text, sound or not.
  toml: string;
  knobs: Knob[];
  problems: Problem[];
  // Of the last one that was sound.
  sound: string;
  pane: Pane;
}

// Shown where nothing sound has been open yet.
const NOTHING: Description = {
  name: "Nothing to show yet",
  duration_s: 1,
  warmup_s: 0,
  random: false,
  ports: [],
  groups: [],
  flows: [],
  flow_count: 0,
  followed: { flows: [], ports: [], bin_s: 1 },
  predictions: { lines: [], none: null },
  changes_s: [],
  warnings: [],
  remarks: [],
  scenario: "",
};

export class Variants {
  all: Variant[] = [];
  edited: Variant["name"] = "A";
  // The first of the flows that are followed; null: some of each group.
  follow: number | null = null;
  // What is waited for is of this opening, not of one before.
  generation = 0;

  constructor(private readonly engine: Engine, private readonly pane: (name: string, description: Description) => Pane) {}

  get(name: Variant["name"] = this.edited): Variant {
    const found = this.all.find((one) => one.name === name) ?? this.all[0];
    if (!found) {
      throw new Error("nothing is open");
    }
    return found;
  }

  get names(): string[] {
    return this.all.map(({ name }) => name);
  }

  get panes(): Pane[] {
    return this.all.map(({ pane }) => pane);
  }

  get now(): number {
    return Math.max(0, ...this.panes.map(({ run }) => run.now));
  }

  get duration(): number {
    return Math.max(...this.panes.map(({ description }) => description.duration_s));
  }

  get isRunnable(): boolean {
    return this.all.length > 0 && this.all.every(({ sound }) => sound !== "");
  }

  seed(): number {
    const field = byId<HTMLInputElement>("seed");
    const seed = Number(field.value.trim());
    const sound = Number.isSafeInteger(seed) && seed >= 0 && field.value.trim() !== "";
    field.setAttribute("aria-invalid", String(!sound));
    return sound ? seed : 1;
  }

  // What the core is to run.
  scenario(toml: string): Of & { follow: number | null } {
    return { toml, seed: this.seed(), follow: this.follow };
  }

  // A scenario in place of what is open. False: another one has been opened meanwhile.
  async open(toml: string): Promise<boolean> {
    const generation = ++this.generation;
    this.follow = null;
    const variant = await this.described("A", toml);
    if (generation !== this.generation) {
      return false;
    }
    this.all = [variant];
    this.edited = "A";
    return true;
  }

  // A text that is not sound, so that it can be mended here.
  mend(toml: string, fault: Fault): void {
    const { problems } = fault.answer;
    this.edited = "A";
    if (this.all.length === 0) {
      this.all = [{ name: "A", toml, knobs: [], problems, sound: "", pane: this.pane("A", NOTHING) }];
    } else {
      this.all = this.all.slice(0, 1);
      Object.assign(this.get(), { toml, problems, knobs: [] });
    }
  }

  // Another text for the variant that is edited.
  async change(toml: string): Promise<boolean> {
    const variant = this.get();
    variant.toml = toml;
    const generation = ++this.generation;
    const sound = await this.described(variant.name, toml);
    if (generation !== this.generation) {
      return false;
    }
    this.all = this.all.map((one) => (one.name === variant.name ? sound : one));
    return true;
  }

  // A second one beside the first.
  async add(toml: string): Promise<boolean> {
    const generation = ++this.generation;
    const variant = await this.described("B", toml);
    if (generation !== this.generation) {
      return false;
    }
    this.all = [this.get("A"), variant];
    this.edited = "B";
    return true;
  }

  // The same, with other flows followed.
  async refollow(first: number | null): Promise<boolean> {
    const generation = ++this.generation;
    const before = this.follow;
    this.follow = first;
    try {
      const all = await Promise.all(this.all.map(({ name, sound }) => this.described(name, sound)));
      if (generation === this.generation) {
        this.all = all;
      }
      return generation === this.generation;
    } catch (error) {
      this.follow = before;
      throw error;
    }
  }

  closeSecond(): void {
    this.all = this.all.slice(0, 1);
    this.edited = "A";
    this.generation++;
  }

  private async described(name: Variant["name"], toml: string): Promise<Variant> {
    const description = await this.engine.ask<Description>({ ask: "describe", scenario: this.scenario(toml) });
    const { knobs } = await this.engine.ask<{ knobs: Knob[] }>({ ask: "knobs", toml });
    return { name, toml, knobs, problems: [], sound: toml, pane: this.pane(name, description) };
  }
}
