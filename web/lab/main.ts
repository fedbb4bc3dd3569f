// The page: the views, the open scenarios, and the actions of buttons and keys.

import uplotCss from "uplot/dist/uPlot.min.css";
import { Fault, type DifferenceAnswer } from "./answers";
import { breakpoints, onBreakpoints } from "./breakpoint_form";
import { onGroundChange } from "./colours";
import { byId, fill, make } from "./dom";
import "./editor";
import { onFile, textOf } from "./dropping";
import { Engine } from "./engine";
import { examples, type Example } from "./examples";
import { forkForm, type Change } from "./forking";
import { gallery } from "./gallery";
import { Inspection, SPANS } from "./inspection";
import { onKey } from "./keys";
import { LessonView } from "./lesson_view";
import { LinkError, unfolded } from "./link";
import { closeMenus } from "./menus";
import { lossList, outcome } from "./outcome";
import { Pane } from "./pane";
import { Player } from "./player";
import { ScenarioSide } from "./scenario_side";
import { SchemaIndex, type Edit } from "./schema";
import { seedTyped } from "./seed";
import { sizing } from "./sizing";
import { exportMenu, share } from "./taking";
import { Thumbnails } from "./thumbnails";
import { VariantHistory, type StoredVariants } from "./variant_history";
import { Variants, type Variant } from "./variants";
import { difference } from "./why";
import type { Frame } from "./worker";
import { clock, count, percent, seconds } from "./words";

declare const TAILBACK_VERSION: string;

// Simulated seconds per second.
const SPEEDS: [string, number | null][] = [["1/1000", 0.001], ["1/100", 0.01], ["1/10", 0.1], ["1×", 1], ["10×", 10], ["as fast as possible", null]];
const NO_VALID_SCENARIO = "There is nothing to run yet: correct the scenario first.";
const VIEWS = ["gallery", "lab", "lessons", "sizing"];

class Lab {
  private readonly engine = new Engine();
  private readonly variants: Variants = new Variants(this.engine, (name, description) => new Pane(name, description, this.inspection.watcher(name), (port) => this.status(this.inspection.port(description, port))));
  private readonly inspection = new Inspection(this.engine, this.variants, { chosen: (variant, time) => this.forkForm(variant, time), failed: (error) => this.failed(error) });
  private readonly player = new Player(this.engine, this.variants, {
    status: (text) => this.status(text),
    failed: (error) => this.failed(error),
    frame: (frame) => this.take(frame),
    changed: () => this.buttons(),
    halted: () => fill(byId("results"), this.losses()),
    finished: () => this.finished(),
  });
  private readonly side = new ScenarioSide(this.variants, {
    turn: (edits, at) => void this.edit(() => this.turn(edits, at)),
    change: (toml) => void this.edit(() => this.change(toml)),
    choose: (name) => void this.choose(name),
  });
  private readonly lessons = new LessonView({ open: (toml) => this.open(toml), runBoth: (toml, other, begins) => this.runBoth(toml, other, begins) });
  private readonly thumbnails = new Thumbnails(this.engine, () => !byId("view-gallery").hidden && !document.hidden && !this.player.isPlaying);
  private readonly history = new VariantHistory();
  private examples: Example[] = [];
  // The edit in progress: the next one waits for it.
  private edits: Promise<unknown> = Promise.resolve();

  async begin(): Promise<void> {
    const style = new CSSStyleSheet();
    style.replaceSync(uplotCss);
    document.adoptedStyleSheets = [style];
    byId("version").textContent = `Tailback ${TAILBACK_VERSION}.`;
    this.engine.onbroken = (why) => this.notice(`The core has stopped: ${why}. Reload the page.`);
    this.listen();
    requestAnimationFrame(() => this.draw());
    this.examples = await examples();
    gallery(byId("view-gallery"), this.examples, this.thumbnails, (hash) => void this.go(hash));
    await this.engine.ready;
    this.side.schema = new SchemaIndex(await this.engine.ask({ ask: "schema" }));
    sizing(byId("view-sizing"), this.engine);
    await this.arrive();
    document.body.dataset["ready"] = "";
    await this.keep();
  }

  // For use without a server; browsers support this for https pages and for this machine.
  private async keep(): Promise<void> {
    if (location.protocol.startsWith("http") && "serviceWorker" in navigator) {
      await navigator.serviceWorker.register("offline.js");
      await navigator.serviceWorker.ready;
      byId("offline").textContent = "It is stored in this browser and works without a network.";
    }
  }

  // Views ---------------------------------------------------------------------------------------------------------------------------------

  private async arrive(): Promise<void> {
    const { hash } = location;
    const kept = this.history.find(this.history.shown);
    if (this.history.isShown) {
      this.view("lab");
    } else if (kept) {
      await this.reopen(kept);
    } else if (hash === "#lab" && this.variants.all.length) {
      this.view("lab");
    } else if (["", "#gallery", "#lab"].includes(hash)) {
      this.view("gallery");
    } else if (hash === "#lessons" || hash === "#sizing") {
      this.view(hash.slice(1));
    } else if (/^#(example|experiment)=/.test(hash)) {
      const example = this.examples.find((one) => one.place === hash);
      if (example?.toml) {
        this.lessons.close();
        await this.open(example.toml);
      } else {
        this.notice(example ? `${example.name} has no scenario: it is computed by models.` : "There is no such experiment.");
        this.view("gallery");
      }
    } else {
      await this.follow(hash);
    }
  }

  private async follow(hash: string): Promise<void> {
    try {
      const linked = await unfolded(hash);
      this.lessons.close();
      if ((await this.open(linked.toml, linked.seed)) && linked.other !== undefined) {
        await this.addVariant(linked.other);
      }
      if (linked.version !== TAILBACK_VERSION) {
        this.notice(`This link was made with Tailback ${linked.version}; this is ${TAILBACK_VERSION}, whose results may differ.`);
      }
    } catch (error) {
      if (!(error instanceof LinkError)) {
        throw error;
      }
      this.notice(error.sentence);
      if (this.variants.all.length === 0) {
        this.view("gallery");
      }
    }
  }

  private view(name: string): void {
    for (const one of VIEWS) {
      byId(`view-${one}`).hidden = one !== name;
      byId(`tab-${one}`).toggleAttribute("aria-current", one === name);
    }
    byId<HTMLButtonElement>("tab-lab").disabled = this.variants.all.length === 0 && name !== "lab";
    this.inspection.redraw();
    scrollTo(0, 0);
  }

  private async go(hash: string): Promise<void> {
    history.pushState(null, "", hash);
    this.lessons.close();
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

  private failed(error: unknown): void {
    if (error instanceof Fault) {
      this.notice(error.sentence);
    } else {
      throw error;
    }
  }

  // Scenarios -----------------------------------------------------------------------------------------------------------------------------

  // Opens a scenario, replacing the current one; the displayed address belongs to it. False: another one has been opened meanwhile.
  private async open(toml: string, seed: number | null = null, opening = this.history.fresh()): Promise<boolean> {
    this.player.stop();
    this.history.mark(opening);
    const before = this.history.of(this.variants, this.side.typed);
    let isValid = true;
    try {
      if (!(await this.variants.open(toml, seed))) {
        return false;
      }
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      isValid = false;
      this.variants.mend(toml, error);
    }
    this.history.replace(before, opening);
    this.side.forget();
    if (isValid) {
      const { duration } = this.variants;
      this.speed = duration > 30 ? "10×" : duration > 5 ? "1×" : "1/10";
    } else {
      this.side.tab("text");
    }
    this.inspection.span("the whole run");
    this.shown();
    this.view("lab");
    byId("main").focus({ preventScroll: true });
    return true;
  }

  // Reopens a previous scenario, with its edits.
  private async reopen({ variants, edited }: StoredVariants): Promise<void> {
    this.lessons.close();
    const [first, second] = variants;
    if (!first || !(await this.open(first.validToml || first.toml, null, this.history.shown ?? undefined))) {
      return;
    }
    if (second) {
      await this.addVariant(second.validToml);
    }
    for (const { name, toml } of variants.filter((one) => one.toml !== one.validToml && one.validToml !== "")) {
      this.variants.edited = name;
      await this.change(toml);
    }
    this.variants.edited = edited;
    this.side.show();
  }

  // Displays a newly opened or changed scenario, from its start.
  private shown(): void {
    const { all, panes } = this.variants;
    this.lessons.forget();
    this.player.reset();
    const place = byId("panes");
    place.classList.toggle("two", all.length > 1);
    fill(place, ...panes.map(({ root }) => root));
    all.forEach(({ pane, name }) => pane.entitle(all.length > 1 ? name : null));
    panes.forEach((pane, at) => pane.compare(panes.length > 1 ? panes[1 - at] ?? null : null));
    fill(byId("results"));
    byId<HTMLProgressElement>("progress").value = 0;
    byId("clock").textContent = clock(0);
    byId("pace").textContent = "";
    const first = panes[0]?.description;
    const more = first && first.flow_count > first.observed.flows.length ? `${count(first.flow_count)} flows, ${first.observed.flows.length} of them observed. ` : "";
    this.status(this.variants.isRunnable ? `${more}Press Run, or step through it.` : NO_VALID_SCENARIO);
    byId("difference").hidden = all.length < 2;
    byId("follow").hidden = more === "";
    byId<HTMLInputElement>("follow-from").value = String(this.variants.follow ?? "");
    this.side.show();
    exportMenu(this.variants, this.player.results, () => this.settled());
    this.inspection.reset();
  }

  private edit<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const done = this.edits.then(act);
    this.edits = done.catch(() => undefined);
    return done;
  }

  // Applies the typed text. False: it is invalid, and the error has been reported.
  private settled(): Promise<boolean> {
    return this.edit(async () => {
      const seed = this.side.typedSeed;
      this.side.seedProblem(null);
      const isValid = await this.applied();
      return (seed === null || (await this.reseed(seed))) && isValid;
    });
  }

  private async applied(): Promise<boolean> {
    const typed = this.side.take();
    return typed === null || (await this.change(typed));
  }

  // Sets a new text for the edited variant. False: it is invalid.
  private async change(toml: string): Promise<boolean> {
    const variant = this.variants.get();
    try {
      if (await this.variants.change(toml)) {
        this.shown();
        void this.compare();
      }
      return true;
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      variant.problems = error.answer.problems;
      this.side.show();
      return false;
    }
  }

  private async turn(edits: Edit[], at: string): Promise<void> {
    if (!(await this.applied())) {
      return;
    }
    try {
      const { toml } = await this.engine.ask<{ toml: string }>({ ask: "edit", toml: this.variants.get().toml, edits });
      await this.change(toml);
      // The control at this place is a new element now. A place without a control, such as a table or a removed value, was chosen below its
      // table.
      const section = at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : "";
      (document.getElementById(`knob-${at}`) ?? document.getElementById(`settings-${section}`))?.focus();
    } catch (error) {
      // Nothing has changed, including the controls.
      this.side.show();
      this.failed(error);
    }
  }

  private async choose(name: Variant["name"]): Promise<void> {
    await this.settled();
    this.variants.edited = name;
    this.side.show();
  }

  // Sets another seed. False: there is none, and this has been reported.
  private async reseed(typed: string): Promise<boolean> {
    const seed = seedTyped(typed);
    this.side.seedProblem(seed === null ? typed : null);
    if (seed === null) {
      return false;
    }
    if (this.variants.all.some(({ problems }) => problems.length > 0)) {
      this.notice("The seed is part of the scenario: correct the scenario first.");
      return false;
    }
    if (seed !== this.variants.seed && (await this.variants.reseed(seed))) {
      this.shown();
      void this.compare();
    }
    return true;
  }

  private async refollow(): Promise<void> {
    const text = byId<HTMLInputElement>("follow-from").value.trim();
    const first = Number(text);
    if (text !== "" && !(Number.isSafeInteger(first) && first >= 0 && first < 2 ** 32)) {
      this.notice(`There is no flow ${text}: expected a whole number, at least 0.`);
      return;
    }
    try {
      if (await this.variants.refollow(text === "" ? null : first)) {
        this.notice(null);
        this.shown();
      }
    } catch (error) {
      this.failed(error);
    }
  }

  // A file that cannot be opened leaves the open scenario unchanged.
  private async dropped(file: File): Promise<void> {
    const read = await textOf(file);
    if ("refused" in read) {
      this.notice(read.refused);
      return;
    }
    const { text } = read;
    const fault = this.variants.all.length > 0 ? await this.variants.fault(text) : null;
    if (fault) {
      this.notice(`${file.name} cannot be opened: ${fault.sentence}`);
      return;
    }
    this.lessons.close();
    history.pushState(null, "", "#lab");
    this.notice(null);
    await this.open(text);
  }

  // Variants ------------------------------------------------------------------------------------------------------------------------------

  private async addVariant(toml: string): Promise<void> {
    try {
      if (await this.variants.add(toml)) {
        this.shown();
        void this.compare();
      }
    } catch (error) {
      this.failed(error);
    }
  }

  private async toggleCompare(): Promise<void> {
    if (this.variants.all.length > 1) {
      if (this.variants.edited === "A") {
        await this.settled();
      }
      this.variants.closeSecond();
      this.shown();
    } else if ((await this.settled()) && this.variants.isRunnable) {
      await this.addVariant(this.variants.get().validToml);
    }
  }

  private async runBoth(toml: string, other: string, begins: () => void): Promise<void> {
    if (await this.open(toml)) {
      await this.addVariant(other);
      this.speed = "as fast as possible";
      begins();
      await this.player.play(null, {});
    }
  }

  // The first difference is displayed in a place of its own and stays there.
  private async compare(): Promise<void> {
    const [one, other] = this.variants.all;
    if (!one || !other) {
      return;
    }
    const show = (text: string) => {
      const [left, right] = this.variants.all;
      if (left?.validToml === one.validToml && right?.validToml === other.validToml) {
        byId("difference").textContent = text;
      }
    };
    if (one.validToml === other.validToml) {
      show("A and B are the same: change a parameter of B.");
      return;
    }
    const of = ({ validToml, seed }: Variant) => ({ toml: validToml, seed });
    show("Searching for the first difference.");
    try {
      const answer = await this.engine.question<DifferenceAnswer>({ ask: "difference", name: `difference ${this.variants.generation}`, left: of(one), right: of(other) }, (share) => {
        show(`Searching for the first difference: ${percent(share)}`);
      });
      show(difference(answer));
    } catch (error) {
      show("");
      this.failed(error);
    }
  }

  // For use without a pointer: at the current time of the run, or at the cursor.
  private forkHere(): void {
    if (!this.variants.isRunnable) {
      this.status(NO_VALID_SCENARIO);
      return;
    }
    const time = this.inspection.cursor ?? this.variants.now;
    this.inspection.place(time);
    this.forkForm(this.variants.get(), time);
    byId("fork").scrollIntoView({ block: "nearest" });
    byId("fork").querySelector("select")?.focus();
  }

  private forkForm(variant: Variant, time: number): void {
    forkForm(byId("fork"), variant, time, this.variants.all.length > 1, (change) => void this.fork(variant.name, change));
  }

  private async fork(name: Variant["name"], change: Change): Promise<void> {
    if (!(await this.settled())) {
      return;
    }
    const { validToml } = this.variants.get(name);
    try {
      const { toml } = await this.engine.ask<{ toml: string }>({ ask: "change", toml: validToml, change });
      const fault = await this.variants.fault(toml);
      if (fault) {
        this.failed(fault);
        return;
      }
      const { cursor } = this.inspection;
      this.variants.closeSecond();
      if (name === "B" && !(await this.variants.change(validToml))) {
        return;
      }
      await this.addVariant(toml);
      if (this.variants.all.length > 1) {
        this.inspection.place(cursor);
        this.speed = "as fast as possible";
        await this.play();
      }
    } catch (error) {
      this.failed(error);
    }
  }

  // Running -------------------------------------------------------------------------------------------------------------------------------

  private set speed(label: string) {
    byId<HTMLSelectElement>("speed").selectedIndex = SPEEDS.findIndex(([known]) => known === label);
  }

  // Runs the typed text.
  private async run(): Promise<void> {
    if (await this.settled()) {
      await this.play();
    } else {
      this.status("Nothing runs: correct the input first.");
    }
  }

  private async step(step: string): Promise<void> {
    if (await this.settled()) {
      await this.player.step(step);
    } else {
      this.status("Nothing runs: correct the input first.");
    }
  }

  private async play(): Promise<void> {
    if (!this.variants.isRunnable) {
      this.status(NO_VALID_SCENARIO);
      return;
    }
    const breaks = breakpoints();
    if (!breaks) {
      this.player.stop();
      byId<HTMLDetailsElement>("breaks").open = true;
      this.status("Nothing runs: the queue length to stop at is missing.");
      return;
    }
    if (this.player.isDone) {
      this.shown();
    }
    fill(byId("results"));
    await this.player.play(SPEEDS[byId<HTMLSelectElement>("speed").selectedIndex]?.[1] ?? null, breaks);
  }

  private buttons(): void {
    byId("play").textContent = this.player.isPlaying ? "Pause" : this.player.isDone ? "Again" : "Run";
  }

  private take(frame: Frame): void {
    const { now, duration } = this.variants;
    byId<HTMLProgressElement>("progress").value = now / duration;
    byId("clock").textContent = clock(now);
    byId("pace").textContent = frame.pace > 0 ? `${count(frame.pace / 1000)} thousand events/s` : "";
    if (frame.hit) {
      this.status(`Stopped at ${seconds(now, 7)}: ${frame.hit}.`);
    }
  }

  private finished(): void {
    const { results } = this.player;
    fill(byId("results"), ...outcome(results, this.variants.seed), this.losses());
    exportMenu(this.variants, results, () => this.settled());
    this.lessons.judge(results);
    this.status("Done.");
  }

  private losses(): HTMLElement | null {
    return lossList(this.variants.all, (name, drop) => void this.inspection.why(name, drop));
  }

  private draw(): void {
    requestAnimationFrame(() => this.draw());
    if (!byId("view-lab").hidden && !document.hidden) {
      this.inspection.draw();
    }
    this.thumbnails.tick();
  }

  // Events --------------------------------------------------------------------------------------------------------------------------------

  private listen(): void {
    const on = (id: string, act: () => void, kind = "click") => byId(id).addEventListener(kind, act);
    for (const name of VIEWS.filter((one) => one !== "lab")) {
      on(`tab-${name}`, () => void this.go(`#${name}`));
    }
    on("tab-lab", () => {
      this.history.another("#lab");
      this.view("lab");
    });
    addEventListener("popstate", () => { this.notice(null); void this.arrive(); });
    fill(byId("speed"), ...SPEEDS.map(([label]) => make("option", {}, label)));
    fill(byId("span"), ...SPANS.map(([label]) => make("option", {}, label)));
    on("play", () => void (this.player.isPlaying ? this.player.stop() : this.run()));
    on("reset", () => this.variants.all.length && this.shown());
    on("speed", () => void (this.player.isPlaying && this.play()), "change");
    on("span", () => this.inspection.span(byId<HTMLSelectElement>("span").value), "change");
    onBreakpoints(() => void (this.player.isPlaying && this.play()));
    document.querySelectorAll<HTMLElement>("[data-step]").forEach((button) => button.addEventListener("click", () => void this.step(button.dataset["step"] ?? "event")));
    on("compare", () => void this.toggleCompare());
    on("fork-here", () => this.forkHere());
    on("seed", () => void this.settled(), "change");
    on("follow-from", () => void this.refollow(), "change");
    on("share", () => void this.settled().then(() => share(this.variants, TAILBACK_VERSION)).then((message) => this.status(message)));
    onFile((file) => void this.dropped(file));
    const acts = {
      " ": () => void (this.player.isPlaying ? this.player.stop() : this.run()),
      e: () => void this.step("event"),
      p: () => void this.step("packet"),
      r: () => void this.step("round_trip"),
      f: () => this.forkHere(),
      "0": () => this.shown(),
    };
    onKey(acts, () => !byId("view-lab").hidden && this.variants.all.length > 0);
    closeMenus();
    onGroundChange(() => {
      this.variants.panes.forEach((pane) => pane.recolour());
      this.thumbnails.recolour();
    });
  }
}

void new Lab().begin();
