// The editor of a scenario's text, an element with CodeMirror. It is in a shadow tree, where CodeMirror adopts its style sheets: the page's
// policy forbids style elements.

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "./answers";
import { isDark, onGroundChange } from "./colours";
import { completions } from "./completion";
import type { SchemaIndex } from "./schema";
import { toml } from "./toml";

// Milliseconds without typing before a text is checked.
const PAUSE = 400;

export interface Finding extends Problem {
  severity: "error" | "warning" | "info";
}

// The functions of the page that an editor uses.
export interface EditorHost {
  schema(): SchemaIndex | null;
  check(toml: string): Promise<Finding[]>;
  apply(): void;
}

const colours = HighlightStyle.define([
  { tag: tags.heading, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.propertyName, color: "var(--ink)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.comment, color: "var(--faint)" },
  { tag: tags.punctuation, color: "var(--soft)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--ground)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--faint)", backgroundColor: "var(--panel)", borderRight: "1px solid var(--hair)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 9%, transparent)" },
  ".cm-tooltip, .cm-panels": { color: "var(--ink)", backgroundColor: "var(--panel)", border: "1px solid var(--rule)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionInfo": { maxWidth: "min(22rem, 70vw)", overflowWrap: "anywhere" },
  ".cm-tooltip-lint": { maxWidth: "min(30rem, 90vw)" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
  ".cm-panel input, .cm-panel button": { font: "inherit", color: "inherit", backgroundColor: "var(--ground)", backgroundImage: "none", borderColor: "var(--rule)" },
});

export class TomlEditor extends HTMLElement {
  private readonly view: EditorView;
  private readonly ground = new Compartment();
  private host: EditorHost = { schema: () => null, check: () => Promise.resolve([]), apply: () => undefined };
  // The variant in the editor, and the texts of others with their histories.
  private shown = "";
  private readonly others = new Map<string, EditorState>();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    this.view = new EditorView({ root, parent: root, state: this.fresh("") });
    onGroundChange(() => this.view.dispatch({ effects: this.ground.reconfigure(EditorView.darkTheme.of(isDark())) }));
  }

  serve(host: EditorHost): void {
    this.host = host;
  }

  // With `\n` at the end of lines.
  get value(): string {
    return this.view.state.doc.toString();
  }

  // Shows the text of a variant. A changed text can be undone.
  show(variant: string, text: string): void {
    if (variant !== this.shown) {
      this.others.set(this.shown, this.view.state);
      this.view.setState(this.others.get(variant) ?? this.fresh(text));
      this.view.dispatch({ effects: this.ground.reconfigure(EditorView.darkTheme.of(isDark())) });
      this.shown = variant;
    }
    const after = this.view.state.toText(text);
    if (!after.eq(this.view.state.doc)) {
      this.view.dispatch({ changes: difference(this.view.state.doc.toString(), after.toString()), annotations: isolateHistory.of("full") });
    }
  }

  // Discards the texts and their histories.
  forget(): void {
    this.shown = "";
    this.others.clear();
  }

  select(problem: Problem): void {
    const { from, to } = rangeOf(this.view.state.doc, problem);
    this.view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }

  private fresh(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: [this.extensions(), this.ground.of(EditorView.darkTheme.of(isDark()))] });
  }

  private extensions(): Extension {
    const apply = () => {
      this.host.apply();
      return true;
    };
    return [
      lineNumbers(),
      lintGutter(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      search({ top: true }),
      highlightSelectionMatches(),
      new LanguageSupport(toml),
      syntaxHighlighting(colours),
      autocompletion({ override: [completions(() => this.host.schema())] }),
      linter((view) => this.findings(view), { delay: PAUSE }),
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: apply }])),
      // Escape and then Tab leaves the editor.
      keymap.of([{ key: "Tab", run: acceptCompletion }, ...completionKeymap, ...closeBracketsKeymap, ...searchKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": this.getAttribute("label") ?? "", autocapitalize: "off", spellcheck: "false" }),
      // A dropped file is opened by the page.
      EditorView.domEventHandlers({ beforeinput: replaced, drop: ({ dataTransfer }) => (dataTransfer?.files.length ?? 0) > 0 }),
      theme,
    ];
  }

  private async findings({ state: { doc } }: EditorView): Promise<Diagnostic[]> {
    const found = await this.host.check(doc.toString());
    return found.map((finding) => {
      const { message, expected, hint, severity } = finding;
      return { ...rangeOf(doc, finding), severity, message: [message, expected && `expected: ${expected}`, hint].filter(Boolean).join("\n") };
    });
  }
}

// Typing over several lines: Chromium would set a style attribute with the format of the first line, which the page's policy forbids.
function replaced(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to } = state.selection.main;
  const text = event.data;
  if (event.inputType !== "insertText" || text === null || state.doc.lineAt(from).to >= to) {
    return false;
  }
  const change = () => state.update(state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handles) => handles(view, from, to, text, change))) {
    view.dispatch(change());
  }
  return true;
}

// Columns count characters, and positions UTF-16 units.
function rangeOf(doc: Text, { line = 1, column = 1, end_column = column }: Problem): { from: number; to: number } {
  const { from, text } = doc.line(Math.min(line, doc.lines));
  const characters = [...text];
  const at = (end: number) => from + characters.slice(0, end - 1).join("").length;
  return { from: at(column), to: at(end_column) };
}

// The part of a text that another one replaces.
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  let from = 0;
  while (from < before.length && before[from] === after[from]) {
    from++;
  }
  let behind = 0;
  while (behind < Math.min(before.length, after.length) - from && before.at(-1 - behind) === after.at(-1 - behind)) {
    behind++;
  }
  return { from, to: before.length - behind, insert: after.slice(from, after.length - behind) };
}

customElements.define("toml-editor", TomlEditor);
