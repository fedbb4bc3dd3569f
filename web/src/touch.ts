// Touch zoom: a horizontal drag selects a range, a double tap resets. A vertical drag scrolls the page as usual.

import type uPlot from "uplot";

// Shorter movements are taps, in pixels.
const DRAG = 10;
// Time between the taps of a double tap, in ms.
const PAUSE = 400;

type Zoom = (u: uPlot, from: number, to: number) => void;

// `zoom`: selects a range, for plots without a scale of their own.
export function touch(all: (u: uPlot) => void, zoom: Zoom = (u, min, max) => u.setScale("x", { min, max })): uPlot.Plugin {
  return { hooks: { ready: [(u) => listen(u, all, zoom)] } };
}

function listen(u: uPlot, all: (u: uPlot) => void, zoom: Zoom): void {
  const over = u.over;
  let from: number | null = null;
  let tapped = -PAUSE;
  // Gestures left to the browser.
  over.style.touchAction = "pan-y pinch-zoom";
  const on = (kind: "down" | "move" | "up" | "cancel", act: (event: PointerEvent, at: number) => void) =>
    over.addEventListener(`pointer${kind}`, (event) => {
      if (event.pointerType === "touch" && event.isPrimary) {
        const { left, top, width } = over.getBoundingClientRect();
        const at = Math.min(Math.max(event.clientX - left, 0), width);
        u.setCursor({ left: at, top: event.clientY - top });
        act(event, at);
      }
    });
  const select = (left: number, width: number) => u.setSelect({ left, width, top: 0, height: width && over.clientHeight }, false);
  on("down", (_event, at) => {
    from = at;
  });
  on("move", (_event, at) => {
    if (from !== null) {
      select(Math.min(from, at), Math.abs(at - from));
    }
  });
  on("up", (event, at) => {
    if (from !== null && Math.abs(at - from) > DRAG) {
      zoom(u, u.posToVal(Math.min(from, at), "x"), u.posToVal(Math.max(from, at), "x"));
    } else if (event.timeStamp - tapped < PAUSE) {
      all(u);
    } else {
      tapped = event.timeStamp;
    }
    from = null;
    select(0, 0);
  });
  // The browser has started to scroll.
  on("cancel", () => {
    from = null;
    select(0, 0);
  });
}
