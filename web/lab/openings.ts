// What has been opened in this window, by the entry of the browser's history that it belongs to: Back and Forward find it with its edits.

import type { Variant, Variants } from "./variants";

// Texts, which are quickly read again.
export interface Kept {
  variants: Pick<Variant, "name" | "toml" | "sound">[];
  edited: Variant["name"];
}

export class Openings {
  private current: string | null = null;
  private readonly kept = new Map<string, Kept>();
  private count = 0;

  // A name that no entry has, not even one from before the page was loaded.
  fresh(): string {
    return `${performance.timeOrigin}:${++this.count}`;
  }

  // The entry that is shown is of this opening.
  mark(opening: string): void {
    history.replaceState({ opening }, "");
  }

  // Another entry for what is open.
  another(address: string): void {
    history.pushState({ opening: this.current }, "", address);
  }

  // What the entry that is shown is of.
  get shown(): string | null {
    const state = history.state as { opening?: string } | null;
    return state?.opening ?? null;
  }

  get isShown(): boolean {
    return this.current !== null && this.shown === this.current;
  }

  // With its edits, if it was closed in this window.
  find(opening: string | null): Kept | null {
    return opening === null ? null : (this.kept.get(opening) ?? null);
  }

  // What is open, as it is kept: with what is typed and not applied.
  of({ all, edited }: Variants, typed: string | null): Kept {
    return { variants: all.map(({ name, toml, sound }) => ({ name, toml: name === edited ? (typed ?? toml) : toml, sound })), edited };
  }

  // Another one is open now; `before` was.
  replace(before: Kept, opening: string): void {
    if (this.current !== null) {
      this.kept.set(this.current, before);
    }
    this.current = opening;
  }
}
