// All scenarios that can be opened, each with its question and an animated preview.

import { fill, make } from "./dom";
import type { Example } from "./examples";
import type { Thumbnails } from "./thumbnails";

export function gallery(place: HTMLElement, examples: Example[], thumbnails: Thumbnails, go: (hash: string) => void): void {
  const documents = [...new Set(examples.map((example) => example.document))];
  const sections = documents.map((document) => section(document, examples.filter((example) => example.document === document), thumbnails, go));
  const find = make("input", {
    class: "find",
    type: "search",
    placeholder: "Search: RED, incast, figure 12…",
    "aria-label": "Search experiments",
    input: () => sections.forEach((each) => each.narrow(find.value.toLowerCase())),
  });
  const jumps = sections.map(({ root, title, count }) => make("button", { click: () => root.scrollIntoView({ block: "start" }) }, `${title} (${count})`));
  fill(
    place,
    make("h2", {}, "Experiments with links, buffers, queues and transports"),
    make("p", {}, "Choose an experiment, predict the result, and run it. All parameters can be changed. You can also drop a scenario file here."),
    find,
    make("div", { class: "row", role: "group", "aria-label": "Jump to" }, ...jumps),
    ...sections.map(({ root }) => root),
  );
}

interface Section {
  root: HTMLElement;
  title: string;
  count: number;
  // Shows only entries that contain these words.
  narrow(words: string): void;
}

function section(document: string, examples: Example[], thumbnails: Thumbnails, go: (hash: string) => void): Section {
  const cards = examples.map((example) => ({ example, card: card(example, thumbnails, go) }));
  const title = document || "Examples";
  const all = document ? make("p", {}, "Each experiment, with one of its scenarios. To run all scenarios of an experiment and check the document's claims, use tailback reproduce with the ID at the end of the card.") : null;
  const root = make("section", { "aria-label": title }, make("h3", {}, title), all, make("ul", { class: "cards" }, ...cards.map((each) => each.card)));
  const narrow = (words: string) => {
    for (const { example, card } of cards) {
      card.hidden = !`${example.name} ${example.question} ${example.see} ${example.toml}`.toLowerCase().includes(words);
    }
    root.hidden = cards.every((each) => each.card.hidden);
  };
  return { root, title, count: examples.length, narrow };
}

function card(example: Example, thumbnails: Thumbnails, go: (hash: string) => void): HTMLElement {
  const words = [make("b", {}, example.question), make("span", {}, example.see), example.document ? make("code", {}, example.name) : null];
  const kind = example.document ? "experiment" : "example";
  if (example.toml === null) {
    return make("li", {}, make("div", { class: "still", [`data-${kind}`]: example.name }, ...words));
  }
  const picture = make("canvas", { class: "thumb", "aria-hidden": "true" });
  const facts = make("small");
  const button = make("button", { [`data-${kind}`]: example.name, click: () => go(example.place) }, picture, facts, ...words);
  thumbnails.add(button, picture, facts, example.toml);
  return make("li", {}, button);
}
