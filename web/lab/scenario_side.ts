// The scenario side of the page: controls or text, and errors.

import type { Knob, Problem } from "./answers";
import { byId, fill, make } from "./dom";
import type { TomlEditor } from "./editor";
import { questionOf } from "./examples";
import { knobs } from "./knobs";
import type { Edit, SchemaIndex } from "./schema";
import { SEEDS } from "./seed";
import type { Variant, Variants } from "./variants";

// Callbacks of the editor.
export interface Editor {
  // Edits of the text; `at` is the place of the control.
  turn(edits: Edit[], at: string): void;
  change(toml: string): void;
  // Selects the other variant for editing.
  choose(name: Variant["name"]): void;
}

export class ScenarioSide {
  // Schema data for the controls.
  schema: SchemaIndex | null = null;
  // Contents of the fields before typing. The editor normalises line ends.
  private filled = { name: "", toml: "", field: "" };
  private seed = "";
  private readonly text = byId<TomlEditor>("toml");

  constructor(private readonly variants: Variants, private readonly editor: Editor) {
    const on = (id: string, act: () => void) => byId(id).addEventListener("click", act);
    on("as-knobs", () => this.tab("knobs"));
    on("as-text", () => this.tab("text"));
    for (const [id, other] of [["as-knobs", "text"], ["as-text", "knobs"]] as const) {
      byId(id).addEventListener("keydown", (event) => {
        if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
          this.tab(other);
          byId(`as-${other}`).focus();
        }
      });
    }
    const apply = () => editor.change(this.take() ?? variants.get().toml);
    on("apply", apply);
    this.text.serve({ schema: () => this.schema, check: (toml) => variants.check(toml), apply });
  }

  // Typed text that has not been applied.
  get typed(): string | null {
    const { value } = this.text;
    return value === this.filled.field ? null : value;
  }

  // The typed text, which counts as applied from now on.
  take(): string | null {
    const { typed } = this;
    if (typed !== null) {
      this.filled = { ...this.filled, toml: typed, field: typed };
    }
    return typed;
  }

  // A typed seed that is not in use yet.
  get typedSeed(): string | null {
    const { value } = byId<HTMLInputElement>("seed");
    return value === this.seed ? null : value;
  }

  // Discards input that has not been applied.
  forget(): void {
    this.filled = { name: "", toml: "", field: "" };
    this.seed = "";
    this.text.forget();
  }

  // `typed`: an invalid seed; null: no error.
  seedProblem(typed: string | null): void {
    const field = byId<HTMLInputElement>("seed");
    field.setAttribute("aria-invalid", String(typed !== null));
    if (typed !== null) {
      field.value = typed;
    }
    byId("seed-problem").textContent = typed === null ? "" : `${typed.trim() === "" ? "No seed" : `Not ${typed.trim()}`}: ${SEEDS}.`;
  }

  show(): void {
    const variant = this.variants.get();
    byId("title").textContent = variant.pane.description.name || "Unnamed";
    byId("question").textContent = questionOf(variant.toml);
    const choice = ({ name }: Variant) => make("button", { "aria-pressed": String(name === variant.name), click: () => this.editor.choose(name) }, name);
    fill(byId("variants"), ...this.variants.all.map(choice));
    byId("variants").hidden = this.variants.all.length < 2;
    byId("compare").textContent = this.variants.all.length < 2 ? "Compare\u2026" : "Close B";
    if (this.filled.name !== variant.name || this.filled.toml !== variant.toml) {
      this.text.show(variant.name, variant.toml);
      this.filled = { name: variant.name, toml: variant.toml, field: this.text.value };
    }
    if (this.seed !== String(variant.seed)) {
      this.seed = String(variant.seed);
      byId<HTMLInputElement>("seed").value = this.seed;
      this.seedProblem(null);
    }
    if (this.schema) {
      const other: Knob[] = variant.name === "B" ? this.variants.get("A").knobs : [];
      knobs(byId("knobs"), variant.knobs, other, this.schema, variant.problems, (edits, at) => this.editor.turn(edits, at));
    }
    this.problems(variant);
  }

  tab(name: "knobs" | "text"): void {
    for (const one of ["knobs", "text"]) {
      byId(one).hidden = one !== name;
      byId(`as-${one}`).setAttribute("aria-selected", String(one === name));
    }
  }

  private problems(variant: Variant): void {
    const described = (problem: Problem) => {
      const facts = [["given", problem.given], ["expected", problem.expected], ["hint", problem.hint]].filter(([, text]) => text);
      const place = problem.line === undefined ? null : make("button", { click: () => this.jump(problem) }, `line ${problem.line}, column ${problem.column}`);
      return make("li", {}, make("b", {}, problem.message), problem.at ? ` at ${problem.at} ` : " ", place, make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", {}, name ?? ""), make("dd", {}, text ?? "")])));
    };
    const { problems } = variant;
    const { warnings, notes } = variant.pane.description;
    const listed = problems.length ? [] : [...warnings, ...notes];
    fill(
      byId("problems"),
      problems.length ? make("ul", {}, ...problems.map(described)) : null,
      problems.length && variant.validToml ? make("p", { class: "note" }, "The run uses the last valid text.") : null,
      ...listed.map((note) => make("p", { class: "note" }, `${note.message}${note.at ? ` (${note.at})` : ""}${note.hint ? ` \u2013 ${note.hint}` : ""}`)),
    );
  }

  // Selects the value or key of a problem in the text.
  private jump(problem: Problem): void {
    this.tab("text");
    this.text.select(problem);
  }
}
