// The scenario side of the page: controls or text, and errors.

import type { Knob, Problem } from "./answers";
import { byId, fill, make } from "./dom";
import { questionOf } from "./examples";
import { knobs } from "./knobs";
import type { Edit, SchemaIndex } from "./schema";
import { SEEDS } from "./seed";
import type { Variant, Variants } from "./variants";

// Pixels.
const LINE = 19;

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
  // Contents of the fields before typing. A text area normalises line ends.
  private filled = { name: "", toml: "", field: "" };
  private seed = "";

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
    const text = byId<HTMLTextAreaElement>("toml");
    const apply = () => editor.change(this.take() ?? variants.get().toml);
    on("apply", apply);
    text.addEventListener("input", () => this.gutter());
    text.addEventListener("scroll", () => { byId("numbers").scrollTop = text.scrollTop; });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        apply();
      }
    });
  }

  // Typed text that has not been applied.
  get typed(): string | null {
    const { value } = byId<HTMLTextAreaElement>("toml");
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
    const text = byId<HTMLTextAreaElement>("toml");
    if (this.filled.name !== variant.name || this.filled.toml !== variant.toml) {
      text.value = variant.toml;
      this.filled = { name: variant.name, toml: variant.toml, field: text.value };
    }
    if (this.seed !== String(variant.seed)) {
      this.seed = String(variant.seed);
      byId<HTMLInputElement>("seed").value = this.seed;
      this.seedProblem(null);
    }
    this.gutter();
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

  private gutter(): void {
    const text = byId<HTMLTextAreaElement>("toml");
    const wrong = new Set(this.variants.all.length ? this.variants.get().problems.map((problem) => problem.line) : []);
    // Text between the lines with errors: there may be very many lines.
    const parts: (string | HTMLElement)[] = [""];
    const lines = text.value.split("\n").length;
    for (let line = 1; line <= lines; line++) {
      if (wrong.has(line)) {
        parts.push(make("b", {}, String(line)), "\n");
      } else {
        parts.push(`${parts.pop()}${line}\n`);
      }
    }
    fill(byId("numbers"), ...parts);
    byId("numbers").scrollTop = text.scrollTop;
  }

  // Selects the value or key of a problem in the text.
  private jump({ line = 1, column = 1, end_column = column }: Problem): void {
    this.tab("text");
    const text = byId<HTMLTextAreaElement>("toml");
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    // Columns count characters, and a text area UTF-16 units.
    const characters = [...(lines[line - 1] ?? "")];
    const [from, to] = [column, end_column].map((end) => start + characters.slice(0, end - 1).join("").length);
    text.focus();
    text.setSelectionRange(from ?? start, to ?? start);
    text.scrollTop = Math.max(0, (line - 6) * LINE);
  }
}
