// Locations of the page's own files: next to the page, or as provided by the notebook widget.

type Places = Record<string, string>;

export function address(name: string): string {
  return (globalThis as { TAILBACK_FILES?: Places }).TAILBACK_FILES?.[name] ?? name;
}
