// Scenarios opened in this window, by the entry of the browser's history: Back and Forward restore them with their edits.

import type { Variant, Variants } from "./variants";

// Texts, which are quickly parsed again.
export interface StoredVariants {
  variants: Pick<Variant, "name" | "toml" | "validToml">[];
  edited: Variant["name"];
}

export class VariantHistory {
  private current: string | null = null;
  private readonly stored = new Map<string, StoredVariants>();
  private count = 0;

  // A name that no entry has, including entries from before the page was loaded.
  fresh(): string {
    return `${performance.timeOrigin}:${++this.count}`;
  }

  // Assigns the current history entry to this opening.
  mark(opening: string): void {
    history.replaceState({ opening }, "");
  }

  // Adds a history entry for the open scenario.
  another(address: string): void {
    history.pushState({ opening: this.current }, "", address);
  }

  // The opening of the current history entry.
  get shown(): string | null {
    const state = history.state as { opening?: string } | null;
    return state?.opening ?? null;
  }

  get isShown(): boolean {
    return this.current !== null && this.shown === this.current;
  }

  // The opening with its edits, if it was closed in this window.
  find(opening: string | null): StoredVariants | null {
    return opening === null ? null : (this.stored.get(opening) ?? null);
  }

  // The open variants in storable form, including typed text that has not been applied.
  of({ all, edited }: Variants, typed: string | null): StoredVariants {
    return { variants: all.map(({ name, toml, validToml }) => ({ name, toml: name === edited ? (typed ?? toml) : toml, validToml })), edited };
  }

  // Another opening replaces `before`.
  replace(before: StoredVariants, opening: string): void {
    if (this.current !== null) {
      this.stored.set(this.current, before);
    }
    this.current = opening;
  }
}
