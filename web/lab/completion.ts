// Completion of keys, tables and values in the text of a scenario, with descriptions from its schema.

import { startCompletion, type Completion, type CompletionResult, type CompletionSource } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import { explained, join, type SchemaIndex, type Value, type Values } from "./schema";
import { cursorAt, valuesOf, type Cursor } from "./toml";

export function completions(schema: () => SchemaIndex | null): CompletionSource {
  return ({ state, pos, explicit }): CompletionResult | null => {
    const [index, cursor] = [schema(), cursorAt(state, pos)];
    if (index === null || cursor === null || (cursor.from === cursor.to && !explicit)) {
      return null;
    }
    const values = valuesOf(state);
    if (cursor.in === "value") {
      const isQuoted = /["']/.test(state.sliceDoc(cursor.from, cursor.from + 1));
      return { from: cursor.from + Number(isQuoted), options: valueOptions(index, cursor.place, values), validFor: /^[^"'\n]*$/ };
    }
    return { from: cursor.from, options: cursor.in === "key" ? keyOptions(index, cursor, values) : tableOptions(index, cursor.section, values), validFor: /^[\w-]*$/ };
  };
}

function valueOptions(index: SchemaIndex, place: string, values: Values): Completion[] {
  const written = (value: Value) => (view: EditorView, _: Completion, from: number, to: number) => {
    // The quotes around the cursor, if any, are part of the value.
    const cursor = cursorAt(view.state, to);
    const [start, end] = cursor?.in === "value" ? [cursor.from, cursor.to] : [from, to];
    const insert = text(value);
    view.dispatch({ changes: { from: start, to: end, insert }, selection: { anchor: start + insert.length }, userEvent: "input.complete" });
  };
  return index.suggestions(place, values).map((value) => ({
    label: String(value),
    type: typeof value === "string" ? "enum" : "constant",
    info: () => note(index.at(place, new Map([...values, [place, value]])).help),
    apply: written(value),
  }));
}

function keyOptions(index: SchemaIndex, { section, pair }: Cursor & { in: "key" }, values: Values): Completion[] {
  return index.keys(section, values).map(({ key, value, isList }) => {
    const known = index.at(join(section, key), values);
    const hasChoice = known.words.length > 1 && typeof value === "string";
    const apply = (view: EditorView, _: Completion, from: number, to: number) => {
      const written = hasChoice ? '""' : isList && (value === null || typeof value === "object") ? "[]" : text(value ?? {});
      const insert = pair ? key : `${key} = ${written}`;
      // The initial value is selected, without its quotes or brackets.
      const [start, end] = [from + insert.length - (pair ? 0 : written.length), from + insert.length];
      const inner = /^["{[]/.test(written) && !pair ? 1 : 0;
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: start + inner, head: end - inner }, userEvent: "input.complete" });
      if (hasChoice && !pair) {
        startCompletion(view);
      }
    };
    return { label: key, type: "property", info: () => note(explained(known)), apply };
  });
}

function tableOptions(index: SchemaIndex, section: string, values: Values): Completion[] {
  const tables = index.keys(section, values, true).filter(({ isTable }) => isTable);
  return tables.map(({ key }) => ({ label: key, type: "class", info: () => note(explained(index.at(join(section, key), values))) }));
}

function note(description: string): Node | null {
  return description === "" ? null : document.createTextNode(description);
}

// A value as inline TOML.
function text(value: Value): string {
  return typeof value === "object" ? `{${Object.entries(value).map(([key, inner]) => `${key} = ${text(inner)}`).join(", ")}}` : JSON.stringify(value);
}
