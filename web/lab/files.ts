// Locations of the page's own files: next to the page, or as provided by the notebook widget.

type FileAddresses = Record<string, string>;

export function address(name: string): string {
  return (globalThis as { TAILBACK_FILES?: FileAddresses }).TAILBACK_FILES?.[name] ?? name;
}
