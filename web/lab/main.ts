// The page: what is open, what runs, and what somebody does with it.

import uplotCss from "uplot/dist/uPlot.min.css";
import { Fault, type Breaks, type Description, type DifferenceAnswer, type Drop, type Knob, type Problem, type Results, type WhyAnswer } from "./answers";
import { onGroundChange } from "./colours";
import type { Mark, Watcher } from "./curves";
import { byId, fill, make, save } from "./dom";
import { Engine } from "./engine";
import { curvesCsv, png, svg } from "./exporting";
import { knobs, Places } from "./knobs";
import { changed, LESSONS, type Lesson, type Task } from "./lessons";
import { fragment, LinkError, unfolded } from "./link";
import { buffer } from "./network";
import { Pane } from "./pane";
import { sizing } from "./sizing";
import { csv, tables } from "./tables";
import type { Frame } from "./worker";
import { clock, count, percent, seconds } from "./words";
import { difference, explained, lossNamed } from "./why";

declare const TAILBACK_VERSION: string;

interface Example {
  name: string;
  question: string;
  see: string;
  toml: string;
}

interface Variant {
  name: "A" | "B";
  // As it stands in the text, sound or not.
  toml: string;
  knobs: Knob[];
  problems: Problem[];
  // Of the last one that was sound.
  sound: string;
  pane: Pane;
}

// Simulated seconds a second.
const SPEEDS: [string, number | null][] = [["1/1000", 0.001], ["1/100", 0.01], ["1/10", 0.1], ["1×", 1], ["10×", 10], ["as fast as it goes", null]];
const SPANS: [string, number | null][] = [["the whole run", null], ["the last 20 s", 20], ["the last 5 s", 5], ["the last 1 s", 1], ["the last 0.2 s", 0.2]];
// Slower than this every packet is shown.
const CLOSE_SPEED = 1;
// More flows than this are looked at from afar.
const CLOSE_FLOWS = 2000;
const PACKETS = 3000;

class Lab {
  private readonly engine = new Engine();
  private examples: Example[] = [];
  private places: Places | null = null;
  private variants: Variant[] = [];
  private edited: Variant["name"] = "A";
  private opened: { close: boolean } | null = null;
  private playing = false;
  private zoomed: [number, number] | null = null;
  private cursor: number | null = null;
  private hovered: number | null = null;
  private results: Record<string, Results> = {};
  private task: { lesson: Lesson; place: number; chosen: number } | null = null;
  private drawnCurves = 0;
  // What is waited for is of this opening, not of one before.
  private generation = 0;
  // Frames of runs that are no longer there are not for these curves.
  private epoch = 0;

  async begin(): Promise<void> {
    const style = new CSSStyleSheet();
    style.replaceSync(uplotCss);
    document.adoptedStyleSheets = [style];
    byId("version").textContent = `Tailback ${TAILBACK_VERSION}.`;
    this.engine.onframe = (frame) => frame.epoch === this.epoch && this.take(frame);
    this.engine.onbroken = (why) => this.notice(`The core could not go on: ${why}. Reload the page.`);
    this.listen();
    requestAnimationFrame(() => this.draw());
    this.examples = (await (await fetch("examples.json")).json()) as Example[];
    this.gallery();
    this.lessons();
    await this.engine.ready;
    this.places = new Places(await this.engine.ask({ ask: "schema" }));
    sizing(byId("view-sizing"), this.engine);
    await this.arrive();
    document.body.dataset["ready"] = "";
  }

  // Views ---------------------------------------------------------------------------------------------------------------------------------

  private async arrive(): Promise<void> {
    const { hash } = location;
    if (hash === "#lab" && this.variants.length) {
      this.view("lab");
    } else if (["", "#gallery", "#lab"].includes(hash)) {
      this.view("gallery");
    } else if (hash === "#lessons" || hash === "#sizing") {
      this.view(hash.slice(1));
    } else if (hash.startsWith("#example=")) {
      const example = this.examples.find((one) => one.name === hash.slice("#example=".length));
      if (example) {
        await this.open(example.toml);
      } else {
        this.notice("There is no such experiment.");
        this.view("gallery");
      }
    } else {
      try {
        const linked = await unfolded(hash);
        byId<HTMLInputElement>("seed").value = String(linked.seed);
        await this.open(linked.toml, linked.seed);
        if (linked.other !== undefined) {
          await this.addVariant(linked.other);
        }
        if (linked.version !== TAILBACK_VERSION) {
          this.notice(`This link was made with Tailback ${linked.version}; this is ${TAILBACK_VERSION}, whose results may differ.`);
        }
      } catch (error) {
        if (!(error instanceof LinkError)) {
          throw error;
        }
        this.notice(`${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`);
        if (this.variants.length === 0) {
          this.view("gallery");
        }
      }
    }
  }

  private view(name: string): void {
    for (const one of ["gallery", "lab", "lessons", "sizing"]) {
      byId(`view-${one}`).hidden = one !== name;
      byId(`tab-${one}`).toggleAttribute("aria-current", one === name);
    }
    byId<HTMLButtonElement>("tab-lab").disabled = this.variants.length === 0 && name !== "lab";
    this.variants.forEach(({ pane }) => pane.touch());
    scrollTo(0, 0);
  }

  private gallery(): void {
    const cards = this.examples.map((example) => {
      const card = make("button", { click: () => void this.go(`#example=${example.name}`) }, make("b", {}, example.question), make("span", {}, example.see));
      card.dataset["example"] = example.name;
      return make("li", {}, card);
    });
    const find = make("input", {
      class: "find",
      type: "search",
      placeholder: "Find: RED, incast, CUBIC…",
      "aria-label": "Find an experiment",
      input: () => {
        const wanted = find.value.toLowerCase();
        this.examples.forEach((example, at) => {
          const card = cards[at];
          if (card) {
            card.hidden = !`${example.name} ${example.question} ${example.toml}`.toLowerCase().includes(wanted);
          }
        });
      },
    });
    fill(
      byId("view-gallery"),
      make("h2", {}, "What happens, given these links, buffers, queues and transports?"),
      make("p", {}, "Choose an experiment, predict what it does, and watch it. Everything in it can be changed. Or drop a scenario here."),
      find,
      make("ul", { class: "cards" }, ...cards),
    );
  }

  private async go(hash: string): Promise<void> {
    history.pushState(null, "", hash);
    this.closeTask();
    this.notice(null);
    await this.arrive();
  }

  private notice(text: string | null): void {
    const place = byId("notice");
    place.hidden = text === null;
    fill(place, text, text === null ? null : make("button", { click: () => this.notice(null) }, "Close"));
  }

  private status(text: string): void {
    byId("status").textContent = text;
  }

  // Scenarios -----------------------------------------------------------------------------------------------------------------------------

  private seed(): number {
    const field = byId<HTMLInputElement>("seed");
    const seed = Number(field.value.trim());
    const sound = Number.isSafeInteger(seed) && seed >= 0 && field.value.trim() !== "";
    field.setAttribute("aria-invalid", String(!sound));
    return sound ? seed : 1;
  }

  // A scenario in place of what is open.
  private async open(toml: string, seed: number | null = null): Promise<void> {
    this.stop();
    const written = /^seed\s*=\s*(\d+)/m.exec(toml)?.[1];
    byId<HTMLInputElement>("seed").value = String(seed ?? written ?? 1);
    const generation = ++this.generation;
    try {
      const variant = await this.described("A", toml);
      if (generation !== this.generation) {
        return;
      }
      this.variants = [variant];
      this.edited = "A";
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      // The text can be mended here.
      if (this.variants.length === 0) {
        this.problemsOnly(toml, error);
        return;
      }
      this.variants = this.variants.slice(0, 1);
      this.edited = "A";
      Object.assign(this.variant(), { toml, problems: error.answer.problems, knobs: [] });
      this.sidebar();
      this.tab("text");
      this.view("lab");
      return;
    }
    const duration = this.variant().pane.description.duration_s;
    this.choose("speed", duration > 30 ? "10×" : duration > 5 ? "1×" : "1/10");
    this.choose("span", "the whole run");
    this.shown();
    this.view("lab");
    byId("main").focus({ preventScroll: true });
  }

  // Nothing sound has been open yet.
  private problemsOnly(toml: string, error: Fault): void {
    const nothing: Description = { name: "Nothing to show yet", duration_s: 1, warmup_s: 0, random: false, ports: [], groups: [], flows: [], flow_count: 0, followed: { flows: [], ports: [], bin_s: 1 }, changes_s: [], warnings: [], remarks: [], scenario: "" };
    this.variants = [{ name: "A", toml, knobs: [], problems: error.answer.problems, sound: "", pane: this.pane("A", nothing) }];
    this.edited = "A";
    this.shown();
    this.tab("text");
    this.view("lab");
  }

  private async described(name: Variant["name"], toml: string): Promise<Variant> {
    const description = await this.engine.ask<Description>({ ask: "describe", scenario: { toml, seed: this.seed() } });
    const { knobs } = await this.engine.ask<{ knobs: Knob[] }>({ ask: "knobs", toml });
    return { name, toml, knobs, problems: [], sound: toml, pane: this.pane(name, description) };
  }

  private pane(name: string, description: Description): Pane {
    const watcher: Watcher = {
      hover: (time) => this.hover(time),
      choose: (time, mark) => this.point(name, time, mark),
      zoom: (from, to) => {
        this.zoomed = [from, to];
        this.redraw();
      },
      all: () => {
        this.zoomed = null;
        this.choose("span", "the whole run");
        // Two clicks were one.
        this.place(null);
        byId("fork").hidden = true;
      },
    };
    return new Pane(name, description, watcher, (port) => this.describePort(description, port));
  }

  private variant(name: Variant["name"] = this.edited): Variant {
    const found = this.variants.find((one) => one.name === name) ?? this.variants[0];
    if (!found) {
      throw new Error("nothing is open");
    }
    return found;
  }

  // What has been opened or changed is shown, from its start.
  private shown(): void {
    this.stop();
    this.epoch++;
    this.opened = null;
    this.results = {};
    this.cursor = null;
    this.zoomed = null;
    const panes = byId("panes");
    panes.classList.toggle("two", this.variants.length > 1);
    fill(panes, ...this.variants.map(({ pane }) => pane.root));
    this.variants.forEach(({ pane, name }) => {
      pane.run.clear();
      pane.tell(null);
      pane.touch();
      const title = pane.root.querySelector("h3");
      if (title) {
        title.className = this.variants.length === 1 ? "alone" : "";
        title.textContent = `${this.variants.length === 1 ? "" : `${name}: `}${pane.description.name || "without a name"}`;
      }
    });
    fill(byId("results"));
    byId("why").hidden = true;
    byId("fork").hidden = true;
    byId<HTMLProgressElement>("progress").value = 0;
    byId("clock").textContent = clock(0);
    byId("pace").textContent = "";
    const flows = this.variants[0]?.pane.description;
    const more = flows && flows.flow_count > flows.followed.flows.length ? `${count(flows.flow_count)} flows, of which ${flows.followed.flows.length} are followed. ` : "";
    this.status(`${more}Press Run, or step through it.`);
    this.sidebar();
    this.redraw();
  }

  // Another text for the variant that is edited.
  private async change(toml: string): Promise<void> {
    const variant = this.variant();
    variant.toml = toml;
    const generation = ++this.generation;
    try {
      const sound = await this.described(variant.name, toml);
      if (generation !== this.generation) {
        return;
      }
      this.variants = this.variants.map((one) => (one.name === variant.name ? sound : one));
      this.shown();
      if (this.variants.length > 1) {
        void this.compare();
      }
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      variant.problems = error.answer.problems;
      this.sidebar();
    }
  }

  private async turn(at: string, value: string | number | boolean): Promise<void> {
    try {
      const { toml } = await this.engine.ask<{ toml: string }>({ ask: "turn", toml: this.variant().toml, at, value });
      await this.change(toml);
      // The knob is another element now, at the same place.
      document.getElementById(`knob-${at}`)?.focus();
    } catch (error) {
      this.told(error);
    }
  }

  private told(error: unknown): void {
    if (error instanceof Fault) {
      this.notice(error.answer.problems.map((problem) => [problem.message, problem.given && `given ${problem.given}`, problem.expected && `expected ${problem.expected}`, problem.hint].filter(Boolean).join("; ")).join(" — "));
    } else {
      throw error;
    }
  }

  private sidebar(): void {
    const variant = this.variant();
    const { description } = variant.pane;
    byId("title").textContent = description.name || "Without a name";
    byId("question").textContent = questionOf(variant.toml);
    fill(
      byId("variants"),
      ...this.variants.map(({ name }) =>
        make("button", { "aria-pressed": String(name === variant.name), click: () => { this.edited = name; this.sidebar(); } }, name),
      ),
    );
    byId("variants").hidden = this.variants.length < 2;
    byId("compare").textContent = this.variants.length < 2 ? "Compare\u2026" : "Close B";
    const text = byId<HTMLTextAreaElement>("toml");
    if (text.value !== variant.toml) {
      text.value = variant.toml;
    }
    this.gutter();
    if (this.places) {
      const other = variant.name === "B" ? this.variant("A").knobs : [];
      knobs(byId("knobs"), variant.knobs, other, this.places, variant.problems, (at, value) => void this.turn(at, value));
    }
    this.problems(variant);
    this.exports();
  }

  private problems(variant: Variant): void {
    const list = variant.problems.map((problem) => {
      const facts = [["given", problem.given], ["expected", problem.expected], ["hint", problem.hint]].filter(([, text]) => text);
      const place = problem.line === null ? null : make("button", { click: () => this.jump(problem.line ?? 1) }, `line ${problem.line}`);
      return make("li", {}, make("b", {}, problem.message), problem.at ? ` at ${problem.at} ` : " ", place, make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", {}, name ?? ""), make("dd", {}, text ?? "")])));
    });
    const { warnings, remarks } = variant.pane.description;
    const notes = variant.problems.length ? [] : [...warnings, ...remarks];
    fill(
      byId("problems"),
      list.length ? make("ul", {}, ...list) : null,
      list.length && variant.sound ? make("p", { class: "note" }, "What runs is the last text that was sound.") : null,
      ...notes.map((note) => make("p", { class: "note" }, `${note.message}${note.at ? ` (${note.at})` : ""}${note.hint ? ` \u2013 ${note.hint}` : ""}`)),
    );
  }

  private gutter(): void {
    const text = byId<HTMLTextAreaElement>("toml");
    const wrong = new Set(this.variant().problems.map((problem) => problem.line));
    const lines = text.value.split("\n").map((_, at) => (wrong.has(at + 1) ? make("b", {}, String(at + 1)) : document.createTextNode(String(at + 1))));
    fill(byId("numbers"), ...lines.flatMap((line) => [line, "\n"]));
    byId("numbers").scrollTop = text.scrollTop;
  }

  private jump(line: number): void {
    this.tab("text");
    const text = byId<HTMLTextAreaElement>("toml");
    const starts = text.value.split("\n");
    const from = starts.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(from, from + (starts[line - 1]?.length ?? 0));
    text.scrollTop = Math.max(0, (line - 6) * 19);
  }

  private tab(name: "knobs" | "text"): void {
    for (const one of ["knobs", "text"]) {
      byId(one).hidden = one !== name;
      byId(`as-${one}`).setAttribute("aria-selected", String(one === name));
    }
  }

  // Running -------------------------------------------------------------------------------------------------------------------------------

  private get names(): string[] {
    return this.variants.map(({ name }) => name);
  }

  private get speed(): number | null {
    return SPEEDS[byId<HTMLSelectElement>("speed").selectedIndex]?.[1] ?? null;
  }

  private get duration(): number {
    return Math.max(...this.variants.map(({ pane }) => pane.description.duration_s));
  }

  private choose(id: string, label: string): void {
    const select = byId<HTMLSelectElement>(id);
    select.selectedIndex = [...select.options].findIndex((option) => option.text === label);
  }

  // Runs are there, and looked at as closely as is wanted; they keep their place.
  private async ensure(close: boolean): Promise<boolean> {
    const few = this.variants.every(({ pane }) => pane.description.flow_count <= CLOSE_FLOWS);
    const wanted = close && few;
    if (this.opened?.close === wanted) {
      return true;
    }
    const generation = this.generation;
    const now = Math.max(...this.variants.map(({ pane }) => pane.run.now));
    try {
      for (const { name, sound } of this.variants) {
        await this.engine.ask({ ask: "open", name, scenario: { toml: sound, seed: this.seed() }, close: wanted });
      }
      if (now > 0) {
        this.status("Catching up\u2026");
        await this.engine.runTo(this.names, now);
      }
      if (generation !== this.generation) {
        return false;
      }
      this.epoch++;
      this.variants.forEach(({ pane }) => pane.run.clear());
      this.opened = { close: wanted };
      await this.read();
      if (generation !== this.generation) {
        return false;
      }
      this.status("");
      return true;
    } catch (error) {
      this.told(error);
      return false;
    }
  }

  // What has been read of runs that are no longer shown is not for these curves.
  private async read(): Promise<void> {
    const epoch = this.epoch;
    const readings: Frame["readings"] = {};
    for (const name of this.names) {
      readings[name] = await this.engine.ask({ ask: "read", name, packets: PACKETS });
      if (epoch !== this.epoch) {
        return;
      }
    }
    this.take({ epoch, readings, hit: null, playing: false, pace: 0, memory: 0 });
  }

  private breaks(): Breaks {
    const checked = (id: string) => byId<HTMLInputElement>(id).checked;
    const units = Number(byId<HTMLInputElement>("break-units").value);
    return {
      ...(checked("break-timeout") ? { timeout: true } : {}),
      ...(checked("break-loss") ? { loss: true } : {}),
      ...(checked("break-queue") && Number.isSafeInteger(units) && units >= 0 ? { queue_above: units } : {}),
    };
  }

  private async play(): Promise<void> {
    if (this.variants.some(({ sound }) => sound === "")) {
      this.status("There is nothing to run yet: the scenario has to be mended first.");
      return;
    }
    if (this.isDone) {
      this.shown();
    }
    const speed = this.speed;
    if (await this.ensure(speed !== null && speed <= CLOSE_SPEED)) {
      this.playing = true;
      fill(byId("results"));
      this.status("");
      this.engine.play({ epoch: this.epoch, names: this.names, speed, until_s: this.duration, breaks: this.breaks(), packets: PACKETS });
      this.buttons();
    }
  }

  private get isDone(): boolean {
    return this.variants.length > 0 && this.variants.every(({ pane }) => pane.run.reading?.done);
  }

  private stop(): void {
    if (this.playing) {
      this.playing = false;
      this.engine.pause();
    }
    this.buttons();
  }

  private async step(step: string): Promise<void> {
    if (this.variants.some(({ sound }) => sound === "") || this.isDone) {
      return;
    }
    this.stop();
    if (await this.ensure(true)) {
      const epoch = this.epoch;
      for (const name of this.names) {
        await this.engine.ask({ ask: "step", name, step });
      }
      if (epoch === this.epoch) {
        await this.read();
      }
    }
  }

  private buttons(): void {
    const button = byId("play");
    button.textContent = this.playing ? "Pause" : this.isDone ? "Again" : "Run";
  }

  private take(frame: Frame): void {
    for (const { name, pane } of this.variants) {
      const reading = frame.readings[name];
      if (reading) {
        pane.run.take(reading);
        pane.drawing.drop(reading.drops);
        pane.touch();
        if (this.hovered === null) {
          pane.tell(null);
        }
      }
    }
    const now = Math.max(0, ...this.variants.map(({ pane }) => pane.run.now));
    byId<HTMLProgressElement>("progress").value = now / this.duration;
    byId("clock").textContent = clock(now);
    byId("pace").textContent = frame.pace > 0 ? `${count(frame.pace / 1000)} thousand events/s` : "";
    if (frame.playing || !Object.keys(frame.readings).length) {
      return;
    }
    this.playing = false;
    this.buttons();
    if (frame.hit) {
      this.status(`Stopped at ${seconds(now, 7)}: ${frame.hit}.`);
    }
    void this.finish();
  }

  // At the end of a run, and where it stands still, its tables.
  private async finish(): Promise<void> {
    const generation = this.generation;
    if (!this.isDone) {
      this.losses();
      return;
    }
    try {
      for (const name of this.names) {
        this.results[name] = await this.engine.ask<Results>({ ask: "results", name });
      }
    } catch (error) {
      this.told(error);
      return;
    }
    if (generation === this.generation) {
      this.showResults();
      this.judge();
      this.status("Done.");
    }
  }

  private showResults(): void {
    const of = (name: string, results: Results) => [
      make("h3", {}, this.variants.length > 1 ? `Results of ${name}` : "Results"),
      make("p", { class: "aside" }, `The same numbers, byte for byte, as tailback run --seed ${this.seed()}: SHA-256 of all tables `, make("code", { class: "hash", id: `hash-${name}` }, results.hash), `; scenario `, make("code", { class: "hash" }, results.scenario.slice(0, 16)), `; ${count(results.events)} events.`),
      ...tables(results),
    ];
    fill(byId("results"), ...Object.entries(this.results).flatMap(([name, results]) => of(name, results)), this.lossList());
    this.exports();
  }

  private losses(): void {
    fill(byId("results"), this.lossList());
  }

  // Each of the last losses with its why; so that nobody needs a mouse for it.
  private lossList(): HTMLElement | null {
    const rows = this.variants.flatMap(({ name, pane }) => pane.run.drops.slice(-60).map((drop) => ({ name, drop }))).sort((one, other) => other.drop.time_s - one.drop.time_s);
    if (rows.length === 0) {
      return null;
    }
    const row = ({ name, drop }: (typeof rows)[number]) =>
      make("tr", {}, make("td", { class: "n" }, seconds(drop.time_s, 6)), make("td", {}, `${this.variants.length > 1 ? `${name}: ` : ""}${lossNamed(drop)}`), make("td", {}, drop.reason), make("td", {}, make("button", { click: () => void this.why(name, drop) }, "Why?")));
    const head = ["time", "loss", "reason", ""].map((name) => make("th", { scope: "col" }, name));
    return make("details", {}, make("summary", {}, "The last losses"), make("div", { class: "losses" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.slice(0, 60).map(row)))));
  }

  // Looking closer ------------------------------------------------------------------------------------------------------------------------

  private hover(time: number | null): void {
    this.hovered = time;
    this.variants.forEach(({ pane }) => {
      pane.tell(time);
      pane.panels.forEach((panel) => panel.hover(time));
    });
  }

  private point(name: string, time: number, mark: Mark | null): void {
    const pane = this.variants.find((one) => one.name === name)?.pane;
    const drop = mark && pane ? nearest(pane.run.drops, mark.time) : null;
    if (drop) {
      void this.why(name, drop);
      return;
    }
    this.place(Math.min(time, this.duration));
    this.forkForm(name);
  }

  private place(cursor: number | null): void {
    this.cursor = cursor;
    this.variants.forEach(({ pane }) => pane.panels.forEach((panel) => { panel.cursor = cursor; }));
    this.redraw();
  }

  private describePort(description: Description, id: number): void {
    const port = description.ports[id];
    const state = this.variants[0]?.pane.run.reading?.ports.find((one) => one.port === id);
    if (port) {
      const lost = Object.entries(state?.discarded ?? {}).map(([reason, units]) => `${count(units)} ${reason}`).join(", ");
      this.status(`${port.name}: ${port.policy ?? "user code"}, ${buffer(port)}; ${state ? `${count(state.queue)} in it, ${count(state.departed)} sent, used to ${percent(state.utilisation)}; discarded ${lost || "nothing"}` : "nothing has run yet"}.`);
    }
  }

  private async why(name: string, drop: Drop): Promise<void> {
    const place = byId("why");
    place.hidden = false;
    const close = make("button", { class: "close", "aria-label": "Close", click: () => { place.hidden = true; } }, "\u2715");
    const heading = make("h3", {}, `Why was a packet lost at ${drop.queue}?`);
    fill(place, close, heading, make("p", {}, "Looking\u2026"));
    place.scrollIntoView({ block: "nearest" });
    if (drop.flow === null) {
      return;
    }
    const variant = this.variant(name as Variant["name"]);
    const loss = { time_s: drop.time_s, port: drop.port, flow: drop.flow, segment: drop.segment, transmission: drop.transmission };
    try {
      const answer = await this.engine.question<WhyAnswer>({ ask: "why", name: "why", scenario: { toml: variant.sound, seed: this.seed() }, loss });
      const cells = variant.pane.description.groups.some((group) => group.cells);
      fill(place, close, heading, ...explained(drop, answer, cells ? "cells" : "packets"));
      place.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.told(error);
    }
  }

  private async addVariant(toml: string): Promise<void> {
    const generation = ++this.generation;
    try {
      const variant = await this.described("B", toml);
      if (generation !== this.generation) {
        return;
      }
      this.variants = [this.variant("A"), variant];
      this.edited = "B";
      this.shown();
      void this.compare();
    } catch (error) {
      this.told(error);
    }
  }

  private async toggleCompare(): Promise<void> {
    if (this.variants.length > 1) {
      this.variants = this.variants.slice(0, 1);
      this.edited = "A";
      this.generation++;
      this.shown();
    } else if (this.variant().sound !== "") {
      await this.addVariant(this.variant().sound);
    }
  }

  // The first event that differs.
  private async compare(): Promise<void> {
    const generation = this.generation;
    const [one, other] = this.variants;
    if (!one || !other) {
      return;
    }
    if (one.sound === other.sound) {
      this.status("A and B are the same: turn a knob of B.");
      return;
    }
    const of = ({ sound }: Variant) => ({ toml: sound, seed: this.seed() });
    try {
      const answer = await this.engine.question<DifferenceAnswer>({ ask: "difference", name: `difference ${generation}`, left: of(one), right: of(other) }, (share) => {
        if (generation === this.generation && !this.playing) {
          this.status(`Looking for the first difference: ${percent(share)}`);
        }
      });
      if (generation === this.generation) {
        this.status(difference(answer));
      }
    } catch (error) {
      this.told(error);
    }
  }

  // From the cursor on with one thing changed: a change in the timeline, so that the wheel runs the same.
  private forkForm(name: string): void {
    const place = byId("fork");
    const variant = this.variant(name as Variant["name"]);
    const { ports } = variant.pane.description;
    const time = this.cursor ?? 0;
    const links = make("select", { "aria-label": "Link" }, ...variant.pane.description.followed.ports.map((id) => make("option", {}, ports[id]?.name ?? "")));
    const what = make("select", { "aria-label": "What changes", change: () => suggest() }, make("option", { value: "rate" }, "rate"), make("option", { value: "delay" }, "delay"), make("option", { value: "loss" }, "random loss"));
    const value = make("input", { size: 10, "aria-label": "New value", autocomplete: "off" });
    const suggest = () => {
      const port = ports.find((one) => one.name === links.value);
      value.value = what.value === "rate" ? `${Number((((port?.rate_bps ?? 2e6) / 2) / 1e6).toPrecision(3))} Mbps` : what.value === "delay" ? `${Number(((port?.delay_s ?? 0.01) * 2000).toPrecision(3))} ms` : "1 %";
    };
    suggest();
    const fork = make("button", { class: "main", id: "fork-go", click: () => void this.fork(variant, { at: `${Number((time * 1e3).toFixed(6))} ms`, link: links.value, [what.value]: value.value }) }, "Fork");
    const close = make("button", { class: "close", "aria-label": "Close", click: () => { place.hidden = true; } }, "\u2715");
    fill(place, close, make("h3", {}, `Fork at ${seconds(time, 5)}`), make("p", {}, "B is the same run up to here, and goes on with one thing changed. Everything else can be changed from the start: Compare."), make("div", { class: "row" }, links, what, value, fork));
    place.hidden = false;
  }

  private async fork(variant: Variant, change: Record<string, string>): Promise<void> {
    try {
      const { toml } = await this.engine.ask<{ toml: string }>({ ask: "change", toml: variant.sound, change });
      const kept = this.cursor;
      this.variants = [{ ...variant, name: "A" }];
      await this.addVariant(toml);
      if (this.variants.length > 1) {
        this.place(kept);
        this.choose("speed", "as fast as it goes");
        await this.play();
      }
    } catch (error) {
      this.told(error);
    }
  }

  // Lessons -------------------------------------------------------------------------------------------------------------------------------

  private lessons(): void {
    const cards = LESSONS.map((lesson, at) => make("li", {}, make("button", { "data-lesson": lesson.name, click: () => void this.begun(lesson) }, make("b", {}, `${at + 1}. ${lesson.title}`), make("span", {}, lesson.text[0] ?? ""))));
    fill(byId("view-lessons"), make("h2", {}, "Six lessons"), make("p", {}, "Each has a scenario to watch, and three things to try. Predict first, then let it run: what is right is what the run measures."), make("ul", { class: "cards" }, ...cards));
  }

  private async begun(lesson: Lesson): Promise<void> {
    history.pushState(null, "", "#lab");
    await this.open(lesson.toml);
    const place = byId("lesson");
    place.hidden = false;
    const steps = lesson.tasks.map((task, at) => this.taskForm(lesson, task, at));
    fill(place, make("button", { class: "close", "aria-label": "Close the lesson", click: () => this.closeTask() }, "\u2715"), make("h2", {}, lesson.title), ...lesson.text.map((text) => make("p", {}, text)), make("p", {}, make("b", {}, "Look at: "), `${lesson.look}.`), ...steps);
  }

  private taskForm(lesson: Lesson, task: Task, at: number): HTMLElement {
    const name = `task-${at}`;
    const verdict = make("div", { id: `verdict-${at}`, "aria-live": "polite" });
    const choices = task.choices.map((choice, value) => make("label", {}, make("input", { type: "radio", name, value }), ` ${choice.text}`));
    const run = make("button", { click: () => void this.tried(lesson, task, at) }, "Predict, and run both");
    return make("div", { class: "lesson-step", role: "group", "aria-label": `Try ${at + 1}` }, make("p", {}, make("b", {}, `${at + 1}. `), task.ask), ...choices, run, verdict);
  }

  private async tried(lesson: Lesson, task: Task, place: number): Promise<void> {
    const chosen = document.querySelector<HTMLInputElement>(`input[name="task-${place}"]:checked`);
    if (!chosen) {
      fill(byId(`verdict-${place}`), make("p", { class: "verdict" }, "Predict first: choose one."));
      return;
    }
    this.task = null;
    await this.open(lesson.toml);
    await this.addVariant(changed(lesson, task));
    this.task = { lesson, place, chosen: Number(chosen.value) };
    this.choose("speed", "as fast as it goes");
    await this.play();
  }

  private judge(): void {
    const [before, after] = [this.results["A"], this.results["B"]];
    const task = this.task?.lesson.tasks[this.task.place];
    if (!this.task || !task || !before || !after) {
      return;
    }
    const value = task.measure(after, before);
    const right = value === null ? -1 : task.choices.findIndex((choice) => value >= choice.from && value < choice.to);
    const told = value === null ? "Nothing was measured." : `It is ${task.told(value)}: ${task.choices[right]?.text ?? "none of these"}.`;
    const hit = right === this.task.chosen;
    fill(byId(`verdict-${this.task.place}`), make("p", { class: hit ? "verdict right" : "verdict off" }, make("b", {}, hit ? "As predicted. " : "Not as predicted. "), told, " ", task.because));
    this.task = null;
  }

  private closeTask(): void {
    this.task = null;
    byId("lesson").hidden = true;
  }

  // In and out ----------------------------------------------------------------------------------------------------------------------------

  private exports(): void {
    const panes = this.variants.map(({ pane }) => pane);
    const item = (label: string, act: () => void) => make("button", { click: () => { act(); byId("exports").closest("details")?.removeAttribute("open"); } }, label);
    const results = Object.entries(this.results).flatMap(([name, { tables: all }]) => all.map((table) => item(`Table ${table.name}${this.variants.length > 1 ? ` of ${name}` : ""} (CSV)`, () => save(`${table.name}${this.variants.length > 1 ? `-${name}` : ""}.csv`, csv(table), "text/csv"))));
    fill(
      byId("exports"),
      item("Scenario (TOML)", () => save("scenario.toml", this.variant().toml, "application/toml")),
      item("Curves (CSV)", () => save("curves.csv", curvesCsv(panes), "text/csv")),
      item("Curves (SVG)", () => save("curves.svg", svg(panes), "image/svg+xml")),
      item("Picture (PNG)", () => void png(panes).then((blob) => save("lab.png", blob, "image/png"))),
      ...results,
    );
  }

  private async share(): Promise<void> {
    const [one, other] = this.variants;
    if (!one) {
      return;
    }
    const hash = await fragment({ v: 1, version: TAILBACK_VERSION, seed: this.seed(), toml: one.toml, ...(other ? { other: other.toml } : {}) });
    history.replaceState(null, "", hash);
    const address = location.href;
    try {
      await navigator.clipboard.writeText(address);
      this.status(`The link is copied: ${count(address.length)} characters, which hold the scenario and the seed.`);
    } catch {
      this.status("The address of this page is the link now: copy it from there.");
    }
  }

  private async dropped(file: File): Promise<void> {
    this.closeTask();
    if (file.size > 1_000_000) {
      this.notice(`${file.name} has ${count(file.size)} bytes; a scenario for the lab has at most a million.`);
      return;
    }
    history.pushState(null, "", "#lab");
    this.notice(null);
    await this.open(await file.text());
  }

  // Drawing -------------------------------------------------------------------------------------------------------------------------------

  private redraw(): void {
    this.variants.forEach(({ pane }) => pane.touch());
  }

  // What is seen of time.
  private seen(): [number, number] {
    const span = SPANS[byId<HTMLSelectElement>("span").selectedIndex]?.[1] ?? null;
    if (this.zoomed) {
      return this.zoomed;
    }
    const now = Math.max(...this.variants.map(({ pane }) => pane.run.now));
    return span === null || span >= this.duration ? [0, this.duration] : [Math.max(0, now - span), Math.max(span, now)];
  }

  private draw(): void {
    requestAnimationFrame(() => this.draw());
    if (byId("view-lab").hidden || document.hidden) {
      return;
    }
    this.variants.forEach(({ pane }) => pane.draw());
    const now = performance.now();
    if (now - this.drawnCurves > 30 && this.variants.length) {
      this.drawnCurves = now;
      const window = this.seen();
      this.variants.forEach(({ pane }) => {
        pane.panels.forEach((panel) => panel.show(window));
        pane.drawCurves();
      });
    }
  }

  // Events --------------------------------------------------------------------------------------------------------------------------------

  private listen(): void {
    const on = (id: string, act: () => void, kind = "click") => byId(id).addEventListener(kind, act);
    for (const name of ["gallery", "lessons", "sizing"]) {
      on(`tab-${name}`, () => void this.go(`#${name}`));
    }
    on("tab-lab", () => {
      history.pushState(null, "", "#lab");
      this.view("lab");
    });
    addEventListener("popstate", () => void this.arrive());
    fill(byId("speed"), ...SPEEDS.map(([label]) => make("option", {}, label)));
    fill(byId("span"), ...SPANS.map(([label]) => make("option", {}, label)));
    on("play", () => void (this.playing ? this.stop() : this.play()));
    on("reset", () => this.variants.length && this.shown());
    on("speed", () => void (this.playing && this.play()), "change");
    on("span", () => { this.zoomed = null; this.redraw(); }, "change");
    for (const id of ["break-timeout", "break-loss", "break-queue", "break-units"]) {
      on(id, () => { byId("break-summary").textContent = Object.keys(this.breaks()).length ? "Stops at\u2026" : "Stop at\u2026"; if (this.playing) { void this.play(); } }, "change");
    }
    document.querySelectorAll<HTMLElement>("[data-step]").forEach((button) => button.addEventListener("click", () => void this.step(button.dataset["step"] ?? "event")));
    on("compare", () => void this.toggleCompare());
    on("seed", () => void this.reseed(), "change");
    on("as-knobs", () => this.tab("knobs"));
    on("as-text", () => this.tab("text"));
    on("apply", () => void this.change(byId<HTMLTextAreaElement>("toml").value));
    const text = byId<HTMLTextAreaElement>("toml");
    text.addEventListener("input", () => this.gutter());
    text.addEventListener("scroll", () => { byId("numbers").scrollTop = text.scrollTop; });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        void this.change(text.value);
      }
    });
    on("share", () => void this.share());
    const file = byId<HTMLInputElement>("file");
    on("file-open", () => file.click());
    file.addEventListener("change", () => {
      const chosen = file.files?.[0];
      if (chosen) {
        void this.dropped(chosen);
      }
      file.value = "";
    });
    addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("drop"); });
    addEventListener("dragleave", () => document.body.classList.remove("drop"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("drop");
      const [first] = event.dataTransfer?.files ?? [];
      if (first) {
        void this.dropped(first);
      }
    });
    addEventListener("keydown", (event) => this.key(event));
    onGroundChange(() => this.variants.forEach(({ pane }) => pane.recolour()));
    addEventListener("click", (event) => document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(event.target as Node)) { menu.removeAttribute("open"); } }));
  }

  private async reseed(): Promise<void> {
    if (this.variants.length) {
      await this.change(this.variant().toml);
      this.shown();
    }
  }

  private key(event: KeyboardEvent): void {
    const at = event.target as HTMLElement;
    const typing = at.matches("input, textarea, select, button, summary") || event.ctrlKey || event.metaKey || event.altKey;
    if (typing || byId("view-lab").hidden || this.variants.length === 0) {
      return;
    }
    const acts: Record<string, () => void> = {
      " ": () => void (this.playing ? this.stop() : this.play()),
      e: () => void this.step("event"),
      p: () => void this.step("packet"),
      r: () => void this.step("round_trip"),
      "0": () => this.shown(),
    };
    const act = acts[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }
}

// The comment that a scenario begins with.
function questionOf(toml: string): string {
  const lines = toml.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#") || line.trim() === "#");
  return lines.slice(0, end < 0 ? lines.length : end).map((line) => line.replace(/^#\s?/, "")).join(" ");
}

function nearest(drops: Drop[], time: number): Drop | null {
  return drops.reduce<Drop | null>((best, drop) => (best && Math.abs(best.time_s - time) <= Math.abs(drop.time_s - time) ? best : drop), null);
}

void new Lab().begin();
