// Keyboard shortcuts of the page, which do not apply while typing.

export function onKey(acts: Record<string, () => void>, isActive: () => boolean): void {
  addEventListener("keydown", (event) => {
    const act = acts[event.key];
    if (act && isActive() && !isUsedByTarget(event)) {
      event.preventDefault();
      act();
    }
  });
}

function isUsedByTarget(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  // The target itself may be outside, around a shadow tree.
  const at = event.composedPath()[0] as HTMLElement;
  const isTyping = at.isContentEditable || at.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range])");
  // The focused element uses the space bar itself.
  const isPressing = key === " " && at.matches("button, summary, input");
  return isTyping || isPressing || ctrlKey || metaKey || altKey;
}
