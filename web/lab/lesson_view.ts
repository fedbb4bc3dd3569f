// Lessons on the page: predict first, then run both variants; the measurement decides.

import type { Results } from "./answers";
import { byId, fill, make } from "./dom";
import { changed, LESSONS, type Lesson, type Task } from "./lessons";

// The page functions that a lesson uses.
export interface Classroom {
  open(toml: string): Promise<unknown>;
  // Runs both side by side at full speed without a stop; `begins` is called before the start.
  runBoth(toml: string, other: string, begins: () => void): Promise<void>;
}

export class LessonView {
  // The current prediction.
  private task: { lesson: Lesson; place: number; chosen: number } | null = null;

  constructor(private readonly classroom: Classroom) {
    const card = (lesson: Lesson, at: number) => make("li", {}, make("button", { "data-lesson": lesson.name, click: () => void this.begun(lesson) }, make("b", {}, `${at + 1}. ${lesson.title}`), make("span", {}, lesson.text[0] ?? "")));
    fill(byId("view-lessons"), make("h2", {}, "Six lessons"), make("p", {}, "Each lesson has a scenario to watch and three tasks. Predict the result first, then run it: the measurement decides."), make("ul", { class: "cards" }, ...LESSONS.map(card)));
  }

  close(): void {
    this.task = null;
    byId("lesson").hidden = true;
  }

  // The current run no longer matches the prediction.
  forget(): void {
    if (this.task) {
      fill(byId(`verdict-${this.task.place}`), make("p", { class: "verdict" }, "The scenario was changed before the run: predict again."));
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
    const told = value === null ? "There is no measurement." : `It is ${task.describe(value)}: ${task.choices[right]?.text ?? "none of these"}.`;
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
    fill(place, make("button", { class: "close", "aria-label": "Close the lesson", click: () => this.close() }, "\u2715"), make("h2", {}, lesson.title), ...lesson.text.map((text) => make("p", {}, text)), make("p", {}, make("b", {}, "Watch: "), `${lesson.look}.`), ...steps);
  }

  private form(lesson: Lesson, task: Task, at: number): HTMLElement {
    const name = `task-${at}`;
    const verdict = make("div", { id: `verdict-${at}`, "aria-live": "polite" });
    const choices = task.choices.map((choice, value) => make("label", {}, make("input", { type: "radio", name, value }), ` ${choice.text}`));
    const run = make("button", { click: () => void this.tried(lesson, task, at) }, "Predict and run both");
    return make("div", { class: "lesson-step", role: "group", "aria-label": `Task ${at + 1}` }, make("p", {}, make("b", {}, `${at + 1}. `), task.ask), ...choices, run, verdict);
  }

  private async tried(lesson: Lesson, task: Task, place: number): Promise<void> {
    const chosen = document.querySelector<HTMLInputElement>(`input[name="task-${place}"]:checked`);
    if (!chosen) {
      fill(byId(`verdict-${place}`), make("p", { class: "verdict" }, "Predict first: choose an answer."));
      return;
    }
    const begins = () => {
      this.task = { lesson, place, chosen: Number(chosen.value) };
      fill(byId(`verdict-${place}`));
    };
    await this.classroom.runBoth(lesson.toml, changed(lesson, task), begins);
  }
}
