// The open scenarios: one, or two side by side with one seed.

import { Fault, type Description, type Knob, type RunSpec, type Problem } from "./answers";
import type { Finding } from "./editor";
import type { Engine } from "./engine";
import type { Pane } from "./pane";
import { seeded, seedOf } from "./seed";

export interface Variant {
  name: "A" | "B";
  // The current text, valid or not.
  toml: string;
  knobs: Knob[];
  problems: Problem[];
  // The last valid text.
  validToml: string;
  // Seed of the valid text, common to both variants.
  seed: number;
  pane: Pane;
}

// Shown until the first valid scenario.
const NOTHING: Description = {
  name: "Nothing to show yet",
  duration_s: 1,
  warmup_s: 0,
  random: false,
  ports: [],
  groups: [],
  flows: [],
  flow_count: 0,
  observed: { flows: [], ports: [], bin_s: 1 },
  predictions: { lines: [], unmodelled: [] },
  changes_s: [],
  warnings: [],
  notes: [],
  scenario: "",
};

export class Variants {
  all: Variant[] = [];
  edited: Variant["name"] = "A";
  // The first observed flow; null: some of each group.
  follow: number | null = null;
  // Identifies the current opening, so that results of previous ones are ignored.
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
    return this.all.length > 0 && this.all.every(({ validToml }) => validToml !== "");
  }

  get seed(): number {
    return this.all[0]?.seed ?? 1;
  }

  // The scenario for the core.
  scenario(toml: string): RunSpec & { follow: number | null } {
    return { toml, seed: this.seed, follow: this.follow };
  }

  // Opens a scenario, replacing the current one; `seed`: overrides that of its text. False: another one has been opened meanwhile.
  async open(toml: string, seed: number | null = null): Promise<boolean> {
    const generation = ++this.generation;
    this.follow = null;
    const variant = await this.described("A", toml, seed);
    if (generation !== this.generation) {
      return false;
    }
    this.all = [variant];
    this.edited = "A";
    return true;
  }

  // The error of a text to be opened, if any.
  async fault(toml: string): Promise<Fault | null> {
    try {
      await this.engine.ask<Description>({ ask: "describe", scenario: { toml, seed: 1, follow: null } });
      return null;
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      return error;
    }
  }

  // The problems of a text, and the warnings about places in it. Those of the shown texts are known.
  async check(toml: string): Promise<Finding[]> {
    const shown = this.all.find((variant) => variant.toml === toml && (variant.problems.length > 0 || variant.validToml === toml));
    const answer = shown ?? (await this.fault(toml));
    const problems = answer instanceof Fault ? answer.answer.problems : (answer?.problems ?? []);
    const warnings = shown && problems.length === 0 ? shown.pane.description.warnings.filter(({ line }) => line !== undefined) : [];
    return [...problems.map((one) => ({ ...one, severity: "error" as const })), ...warnings.map((one) => ({ ...one, severity: "warning" as const }))];
  }

  // Opens an invalid text, so that it can be corrected here.
  mend(toml: string, fault: Fault): void {
    this.edited = "A";
    this.all = [{ name: "A", toml, knobs: [], problems: fault.answer.problems, validToml: "", seed: 1, pane: this.pane("A", NOTHING) }];
  }

  // Sets a new text for the edited variant. Its seed then applies to both.
  async change(toml: string): Promise<boolean> {
    const variant = this.get();
    variant.toml = toml;
    const generation = ++this.generation;
    const described = await this.described(variant.name, toml).catch(async (error: unknown) => {
      // Controls always belong to the current text, even if it is invalid.
      const knobs = await this.knobs(toml);
      variant.knobs = knobs.length ? knobs : variant.knobs;
      throw error;
    });
    const all = await Promise.all(this.all.map((one) => (one.name === variant.name ? described : one.seed === described.seed ? one : this.again(one, described.seed))));
    if (generation !== this.generation) {
      return false;
    }
    this.all = all;
    return true;
  }

  // Reopens both with another seed, which is written to their texts.
  async reseed(seed: number): Promise<boolean> {
    const generation = ++this.generation;
    const all = await Promise.all(this.all.map((one) => this.again(one, seed)));
    if (generation !== this.generation) {
      return false;
    }
    this.all = all;
    return true;
  }

  // Adds a second variant next to the first.
  async add(toml: string): Promise<boolean> {
    const generation = ++this.generation;
    const variant = await this.described("B", toml, this.seed);
    if (generation !== this.generation) {
      return false;
    }
    this.all = [this.get("A"), variant];
    this.edited = "B";
    return true;
  }

  // Reopens with other observed flows.
  async refollow(first: number | null): Promise<boolean> {
    const generation = ++this.generation;
    const before = this.follow;
    this.follow = first;
    try {
      const all = await Promise.all(this.all.map((one) => this.again(one, one.seed)));
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

  // Describes a variant again; an invalid text remains as it is.
  private async again({ name, toml, problems, validToml }: Variant, seed: number): Promise<Variant> {
    const again = await this.described(name, validToml, seed);
    return problems.length ? { ...again, toml, problems } : again;
  }

  private async described(name: Variant["name"], text: string, wanted: number | null = null): Promise<Variant> {
    let [toml, knobs] = [text, await this.knobs(text)];
    const own = seedOf(toml, knobs);
    const seed = wanted ?? own;
    const description = await this.engine.ask<Description>({ ask: "describe", scenario: { toml, seed, follow: this.follow } });
    if (seed !== own) {
      toml = await seeded(this.engine, text, seed);
      knobs = await this.knobs(toml);
    }
    return { name, toml, knobs, problems: [], validToml: toml, seed, pane: this.pane(name, description) };
  }

  // A text that cannot be parsed has no controls; its description contains the error.
  private async knobs(toml: string): Promise<Knob[]> {
    try {
      return (await this.engine.ask<{ knobs: Knob[] }>({ ask: "knobs", toml })).knobs;
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      return [];
    }
  }
}
