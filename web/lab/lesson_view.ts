// Lessons on the page: predict first, then both variants run, and what is right is what they measured.

import type { Results } from "./answers";
import { byId, fill, make } from "./dom";
import { changed, LESSONS, type Lesson, type Task } from "./lessons";

// What a lesson needs of the page.
export interface Classroom {
  open(toml: string): Promise<unknown>;
  // Both side by side, as fast as they go and without a stop; `begins`: they are about to.
  runBoth(toml: string, other: string, begins: () => void): Promise<void>;
}

export class LessonView {
  // What has been predicted.
  private task: { lesson: Lesson; place: number; chosen: number } | null = null;

  constructor(private readonly classroom: Classroom) {
    const card = (lesson: Lesson, at: number) => make("li", {}, make("button", { "data-lesson": lesson.name, click: () => void this.begun(lesson) }, make("b", {}, `${at + 1}. ${lesson.title}`), make("span", {}, lesson.text[0] ?? "")));
    fill(byId("view-lessons"), make("h2", {}, "Six lessons"), make("p", {}, "Each has a scenario to watch, and three things to try. Predict first, then let it run: what is right is what the run measures."), make("ul", { class: "cards" }, ...LESSONS.map(card)));
  }

  close(): void {
    this.task = null;
    byId("lesson").hidden = true;
  }

  // What runs is no longer what was predicted.
  forget(): void {
    if (this.task) {
      fill(byId(`verdict-${this.task.place}`), make("p", { class: "verdict" }, "Something was changed before it had run: predict again."));
      this.task = null;
    }
  }

  judge(results: Record<string, Results>): void {
    const [before, after] = [results["A"], results["B"]];
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

  private async begun(lesson: Lesson): Promise<void> {
    history.pushState(null, "", "#lab");
    await this.classroom.open(lesson.toml);
    const place = byId("lesson");
    place.hidden = false;
    const steps = lesson.tasks.map((task, at) => this.form(lesson, task, at));
    fill(place, make("button", { class: "close", "aria-label": "Close the lesson", click: () => this.close() }, "\u2715"), make("h2", {}, lesson.title), ...lesson.text.map((text) => make("p", {}, text)), make("p", {}, make("b", {}, "Look at: "), `${lesson.look}.`), ...steps);
  }

  private form(lesson: Lesson, task: Task, at: number): HTMLElement {
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
    const begins = () => {
      this.task = { lesson, place, chosen: Number(chosen.value) };
      fill(byId(`verdict-${place}`));
    };
    await this.classroom.runBoth(lesson.toml, changed(lesson, task), begins);
  }
}
