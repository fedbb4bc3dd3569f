// Controls the runs of the open variants: start, continue, pause and read.

import type { Breakpoints, Results } from "./answers";
import type { Engine } from "./engine";
import type { Variants } from "./variants";
import type { Frame } from "./worker";

// Below this speed every packet is shown; in simulated seconds per second.
const CLOSE_SPEED = 1;
// With more flows than this, packets are not shown.
const CLOSE_FLOWS = 2000;
// Maximum number of packets drawn.
const PACKETS = 3000;

// Receives notifications about runs.
export interface PlayerListener {
  status(text: string): void;
  failed(error: unknown): void;
  // A new update.
  frame(frame: Frame): void;
  // The run was started or paused.
  changed(): void;
  // The run was stopped before the end.
  halted(): void;
  finished(): void;
}

export class Player {
  results: Record<string, Results> = {};
  isPlaying = false;
  private opened: { close: boolean } | null = null;
  // Frames with another epoch belong to previous runs.
  private epoch = 0;

  constructor(private readonly engine: Engine, private readonly variants: Variants, private readonly listener: PlayerListener) {
    engine.onframe = (frame) => frame.epoch === this.epoch && this.take(frame);
  }

  get isDone(): boolean {
    return this.variants.all.length > 0 && this.variants.panes.every(({ run }) => run.update?.done);
  }

  // Back to the start.
  reset(): void {
    this.stop();
    this.epoch++;
    this.opened = null;
    this.results = {};
    this.variants.panes.forEach((pane) => {
      pane.run.clear();
      pane.showValues(null);
      pane.touch();
    });
    this.listener.changed();
  }

  async play(speed: number | null, breaks: Breakpoints): Promise<void> {
    if (await this.ensure(speed !== null && speed <= CLOSE_SPEED)) {
      this.isPlaying = true;
      this.listener.status("");
      this.engine.play({ epoch: this.epoch, names: this.variants.names, speed, until_s: this.variants.duration, breaks, packets: PACKETS });
      this.listener.changed();
    }
  }

  stop(): void {
    if (this.isPlaying) {
      this.isPlaying = false;
      this.engine.pause();
    }
    this.listener.changed();
  }

  async step(step: string): Promise<void> {
    if (!this.variants.isRunnable || this.isDone) {
      return;
    }
    this.stop();
    if (await this.ensure(true)) {
      const epoch = this.epoch;
      // There is one clock: the first run that continues takes the step, and the other advances to the same time.
      const [first, ...others] = this.variants.all.filter(({ pane }) => !pane.run.update?.done).map(({ name }) => name);
      if (first !== undefined) {
        await this.engine.ask({ ask: "step", name: first, step });
        const { now_s } = await this.engine.ask<{ now_s: number }>({ ask: "advance", name: first, until_s: 0, events: 0, breaks: {} });
        await this.engine.runTo(others, now_s);
      }
      if (epoch === this.epoch) {
        await this.read();
      }
    }
  }

  // Opens the runs with the required level of detail; they keep their time.
  private async ensure(close: boolean): Promise<boolean> {
    const few = this.variants.panes.every(({ description }) => description.flow_count <= CLOSE_FLOWS);
    const wanted = close && few;
    if (this.opened?.close === wanted) {
      return true;
    }
    const { generation } = this.variants;
    const { now } = this.variants;
    try {
      if (this.opened === null) {
        this.engine.renew();
      }
      for (const { name, validToml } of this.variants.all) {
        await this.engine.ask({ ask: "open", name, scenario: this.variants.scenario(validToml), close: wanted });
      }
      if (now > 0) {
        this.listener.status("Catching up\u2026");
        await this.engine.runTo(this.variants.names, now);
      }
      if (generation !== this.variants.generation) {
        return false;
      }
      this.epoch++;
      this.variants.panes.forEach(({ run }) => run.clear());
      this.opened = { close: wanted };
      await this.read();
      if (generation !== this.variants.generation) {
        return false;
      }
      this.listener.status("");
      return true;
    } catch (error) {
      this.listener.failed(error);
      return false;
    }
  }

  // Readings of previous runs are ignored.
  private async read(): Promise<void> {
    const { epoch } = this;
    const updates: Frame["updates"] = {};
    for (const name of this.variants.names) {
      updates[name] = await this.engine.read(name, PACKETS);
      if (epoch !== this.epoch) {
        return;
      }
    }
    this.take({ epoch, updates, hit: null, playing: false, pace: 0, memory: 0 });
  }

  private take(frame: Frame): void {
    for (const { name, pane } of this.variants.all) {
      const update = frame.updates[name];
      if (update) {
        pane.take(update);
      }
    }
    this.listener.frame(frame);
    if (frame.playing || !Object.keys(frame.updates).length) {
      return;
    }
    this.isPlaying = false;
    this.listener.changed();
    void this.finish();
  }

  // At the end of a run, reads its tables.
  private async finish(): Promise<void> {
    const { generation } = this.variants;
    if (!this.isDone) {
      this.listener.halted();
      return;
    }
    try {
      for (const name of this.variants.names) {
        this.results[name] = await this.engine.ask<Results>({ ask: "results", name });
      }
    } catch (error) {
      this.listener.failed(error);
      return;
    }
    if (generation === this.variants.generation) {
      this.listener.finished();
    }
  }
}
