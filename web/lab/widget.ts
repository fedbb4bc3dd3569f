// The lab in a notebook: the same page in a frame, from files supplied by the widget. Data from Python is never executed.

// The interface of anywidget (its front-end module contract).
interface Model {
  get(name: "files"): Record<string, DataView>;
  get(name: "fragment"): string;
  get(name: "height"): number;
}

const TYPES: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript", json: "application/json", svg: "image/svg+xml", wasm: "application/wasm" };
// The page's policy, adapted to blob URLs.
const POLICY = "default-src 'none'; script-src blob: 'wasm-unsafe-eval'; worker-src blob:; style-src blob:; img-src data: blob:; connect-src blob:; base-uri 'none'; form-action 'none'";

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const made: string[] = [];
  const addressed = (content: BlobPart, name: string): string => {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    const address = URL.createObjectURL(new Blob([content], { type }));
    made.push(address);
    return address;
  };
  const files: Record<string, ArrayBuffer> = {};
  for (const [name, packed] of Object.entries(model.get("files"))) {
    const bytes = new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.byteLength);
    files[name] = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  const places: Record<string, string> = {};
  for (const [name, content] of Object.entries(files)) {
    if (name !== "index.html") {
      places[name] = addressed(content, name);
    }
  }
  const script = addressed(`globalThis.TAILBACK_FILES = ${JSON.stringify(places)};`, "places.js");
  const page = new DOMParser().parseFromString(new TextDecoder().decode(files["index.html"]), "text/html");
  page.querySelector("meta[http-equiv]")?.setAttribute("content", POLICY);
  for (const [tag, name] of [["link", "href"], ["script", "src"]] as const) {
    page.querySelectorAll(tag).forEach((element) => element.setAttribute(name, places[element.getAttribute(name) ?? ""] ?? ""));
  }
  const first = page.createElement("script");
  first.src = script;
  page.querySelector("script")?.before(first);
  const frame = document.createElement("iframe");
  frame.title = "Tailback lab";
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 1px solid #8884; border-radius: 6px`;
  frame.src = addressed(`<!doctype html>${page.documentElement.outerHTML}`, "index.html") + model.get("fragment");
  el.replaceChildren(frame);
  return () => made.forEach((address) => URL.revokeObjectURL(address));
}

export default { render };
