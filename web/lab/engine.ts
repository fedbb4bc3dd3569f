// The page's interface to the worker: each request returns a promise.

import { Fault, type FaultAnswer, type RunUpdate } from "./answers";
import { address } from "./files";
import type { Frame, FromWorker, Play, ToWorker } from "./worker";

interface PendingRequest {
  answered(answer: unknown): void;
  refused(error: Error): void;
  progress?: ((share: number) => void) | undefined;
}

export class Engine {
  onframe: (frame: Frame) => void = () => {};
  onbroken: (why: string) => void = () => {};
  readonly ready: Promise<void>;
  // The worker's name is the address of the core.
  private readonly worker = new Worker(address("worker.js"), { name: address("core.wasm") });
  private readonly waiting = new Map<number, PendingRequest>();
  private next = 1;

  constructor() {
    this.ready = new Promise((begun) => {
      this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        switch (data.kind) {
          case "ready":
            begun();
            break;
          case "broken":
            this.onbroken(data.why);
            break;
          case "frame":
            // The worker continues once the frame has been displayed.
            requestAnimationFrame(() => {
              this.onframe(data.frame);
              this.post({ kind: "drawn" });
            });
            break;
          case "progress":
            this.waiting.get(data.id)?.progress?.(data.share);
            break;
          case "answer":
            this.take(data.id)?.answered(data.answer);
            break;
          case "fault":
            this.take(data.id)?.refused(new Fault(data.fault as FaultAnswer));
            break;
        }
      };
    });
    this.worker.onerror = (event) => this.onbroken(event.message);
  }

  ask<Answer>(request: Record<string, unknown>): Promise<Answer> {
    return this.send((id) => ({ kind: "ask", id, request }));
  }

  read(name: string, packets: number): Promise<RunUpdate> {
    return this.send((id) => ({ kind: "read", id, request: { name, packets } }));
  }

  question<Answer>(request: { ask: string; name: string; [key: string]: unknown }, progress?: (share: number) => void): Promise<Answer> {
    return this.send((id) => ({ kind: "question", id, request }), progress);
  }

  runTo(names: string[], until_s: number): Promise<void> {
    return this.send((id) => ({ kind: "run_to", id, names, until_s }));
  }

  play(play: Play): void {
    this.post({ kind: "play", play });
  }

  pause(): void {
    this.post({ kind: "pause" });
  }

  // No run is needed any more.
  renew(): void {
    this.post({ kind: "renew" });
  }

  private send<Answer>(message: (id: number) => ToWorker, progress?: (share: number) => void): Promise<Answer> {
    const id = this.next++;
    return new Promise<Answer>((answered, refused) => {
      this.waiting.set(id, { answered: (answer) => answered(answer as Answer), refused, progress });
      this.post(message(id));
    });
  }

  private take(id: number): PendingRequest | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}
