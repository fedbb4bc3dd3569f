// TOML in the editor: its language, the values of a text, and the table, key or value at the cursor, also in incomplete texts.

import { ensureSyntaxTree, LRLanguage, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import { styleTags, tags } from "@lezer/highlight";
import { join, type Scalar, type Values } from "./schema";
import { parser } from "./toml.grammar";

// Milliseconds for parsing a long text before its values are read.
const PARSING = 200;

const colours = styleTags({
  "TableHeader/... ArrayHeader/... TableHeader/Key/... ArrayHeader/Key/...": tags.heading,
  "Key/...": tags.propertyName,
  "String/...": tags.string,
  "Number Word": tags.number,
  Comment: tags.comment,
  "= , .": tags.punctuation,
});

export const toml = LRLanguage.define({
  name: "toml",
  parser: parser.configure({ props: [colours] }),
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", '"', "'"] } },
});

// The values of a text by place; null: an inline table.
export function valuesOf(state: EditorState): Values {
  const values = new Map<string, Scalar | null>();
  const take = (pair: SyntaxNode, section: string): void => {
    const place = join(section, keyOf(state, pair));
    const value = pair.lastChild;
    if (value === null || value.name === "Key" || value.name === "=") {
      return;
    }
    if (value.name === "InlineTable") {
      values.set(place, null);
      value.getChildren("Pair").forEach((inner) => take(inner, place));
    } else if (value.name === "Array") {
      itemsOf(value).forEach((item, index) => item.getChildren("Pair").forEach((inner) => take(inner, `${place}[${index}]`)));
    } else {
      values.set(place, scalar(state.sliceDoc(value.from, value.to)));
    }
  };
  for (const { node, section } of entries(state)) {
    if (node.name === "Pair") {
      take(node, section);
    }
  }
  return values;
}

// `from` and `to` include the quotes of a value.
export type Cursor = { from: number; to: number } & (
  | { in: "key"; section: string; pair: boolean }
  | { in: "header"; section: string }
  | { in: "value"; place: string }
);

// The cursor in the structure of the text; null where no name or text can be completed.
export function cursorAt(state: EditorState, at: number): Cursor | null {
  const node = syntaxTree(state).resolveInner(at, -1);
  const parents = [...ancestors(node)];
  const container = parents.find(({ name }) => /^(TableHeader|ArrayHeader|Pair|InlineTable|Array|Document)$/.test(name));
  if (container === undefined || /^(Comment|LongString|Number)$/.test(node.name)) {
    return null;
  }
  const written = parents.find(({ name }) => name === "String" || name === "Word");
  if (written) {
    return { in: "value", place: placeOf(state, written), from: written.from, to: written.to };
  }
  const key = parents.find(({ name }) => name === "Key") ?? null;
  const word = key && node.name !== "." ? { from: node.from, to: node.to } : { from: at, to: at };
  switch (container.name) {
    case "TableHeader":
    case "ArrayHeader":
      return node.name.startsWith("]") ? null : { in: "header", section: keyText(state, key, word.from), ...word };
    case "Pair":
      if (key) {
        return { in: "key", section: join(sectionOf(state, container), keyText(state, key, word.from)), pair: container.getChild("=") !== null, ...word };
      }
      return container.lastChild?.name === "=" ? { in: "value", place: placeOf(state, container), ...word } : null;
    default:
      return between(container, state, at);
  }
}

// Between the parts of a table or list.
function between(container: SyntaxNode, state: EditorState, at: number): Cursor | null {
  const before = container.childBefore(at);
  const isSameLine = before !== null && !state.sliceDoc(before.to, at).includes("\n");
  if (before?.name === "Pair" && before.lastChild?.name === "=" && isSameLine) {
    return { in: "value", place: placeOf(state, before), from: at, to: at };
  }
  if (container.name === "Array") {
    const index = itemsOf(container).filter(({ to }) => to <= at).length;
    return before && /^[[,]$/.test(before.name) ? { in: "value", place: `${placeOf(state, container)}[${index}]`, from: at, to: at } : null;
  }
  if (container.name === "InlineTable") {
    return before && /^[{,]$/.test(before.name) ? { in: "key", section: placeOf(state, container), pair: false, from: at, to: at } : null;
  }
  return isSameLine ? null : { in: "key", section: sectionAt(state, at), pair: false, from: at, to: at };
}

// The place of a pair's value, of a table or list, or of an item of a list.
function placeOf(state: EditorState, node: SyntaxNode): string {
  const { parent } = node;
  if (node.name === "Pair") {
    return join(sectionOf(state, node), keyOf(state, node));
  }
  if (parent === null) {
    return "";
  }
  return parent.name === "Array" ? `${placeOf(state, parent)}[${itemsOf(parent).findIndex(({ from }) => from === node.from)}]` : placeOf(state, parent);
}

// The table of a pair.
function sectionOf(state: EditorState, pair: SyntaxNode): string {
  return pair.parent?.name === "InlineTable" ? placeOf(state, pair.parent) : sectionAt(state, pair.from);
}

// The table that the last header before a position begins.
function sectionAt(state: EditorState, at: number): string {
  let last = "";
  for (const { node, section } of entries(state)) {
    if (node.from >= at) {
      break;
    }
    last = section;
  }
  return last;
}

// The headers and pairs of a text, each with its table.
function* entries(state: EditorState): Generator<{ node: SyntaxNode; section: string }> {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSING) ?? syntaxTree(state);
  const items = new Map<string, number>();
  let section = "";
  for (let node = tree.topNode.firstChild; node; node = node.nextSibling) {
    if (node.name === "TableHeader" || node.name === "ArrayHeader") {
      section = keyOf(state, node);
    }
    if (node.name === "ArrayHeader") {
      const index = items.get(section) ?? 0;
      items.set(section, index + 1);
      section = `${section}[${index}]`;
    }
    yield { node, section };
  }
}

function keyOf(state: EditorState, node: SyntaxNode): string {
  return keyText(state, node.getChild("Key"), node.to);
}

// The names of a dotted key that end before a position.
function keyText(state: EditorState, key: SyntaxNode | null, before: number): string {
  const names: string[] = [];
  for (let name = key?.firstChild ?? null; name; name = name.nextSibling) {
    if (name.name !== "." && name.to <= before) {
      names.push(String(scalar(state.sliceDoc(name.from, name.to), true)));
    }
  }
  return names.join(".");
}

function itemsOf(array: SyntaxNode): SyntaxNode[] {
  return array.getChildren("String").concat(["Number", "Word", "Array", "InlineTable"].flatMap((name) => array.getChildren(name))).sort((one, other) => one.from - other.from);
}

function* ancestors(node: SyntaxNode): Generator<SyntaxNode> {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    yield at;
  }
}

// Escapes do not occur in words of the schema and are not decoded.
function scalar(written: string, isKey = false): Scalar {
  const quoted = /^("""|'''|"|')\n?([^]*?)(\1)?$/.exec(written);
  if (quoted || isKey) {
    return quoted?.[2] ?? written;
  }
  const number = Number(written.replaceAll("_", ""));
  return written === "true" || (written === "false" ? false : Number.isNaN(number) ? written : number);
}
