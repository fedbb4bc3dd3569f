// Where the page's own files are: beside it, or, in a notebook, wherever the widget has put them.

type Places = Record<string, string>;

export function address(name: string): string {
  return (globalThis as { TAILBACK_FILES?: Places }).TAILBACK_FILES?.[name] ?? name;
}
