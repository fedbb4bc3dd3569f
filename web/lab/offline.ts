// The service worker: stores the files of one build of the page for use without a server. If the server is reachable, its files are used,
// so that an upgrade takes effect at once.

declare const LAB_FILES: string[];
declare const LAB_BUILD: string;

// Service worker interfaces that the types of pages do not declare.
interface ExtendableEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface ServiceWorkerScope {
  readonly registration: { readonly scope: string };
  skipWaiting(): Promise<void>;
  addEventListener(kind: "install" | "activate", act: (event: ExtendableEvent) => void): void;
  addEventListener(kind: "fetch", act: (event: FetchEvent) => void): void;
}

const OURS = "tailback-lab-";
const KEPT = `${OURS}${LAB_BUILD}`;
const host = globalThis as unknown as ServiceWorkerScope;

host.addEventListener("install", (event) => event.waitUntil(keep()));
host.addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
host.addEventListener("fetch", (event) => {
  const { request } = event;
  const { scope } = host.registration;
  const name = request.url.startsWith(scope) ? request.url.slice(scope.length).replace(/[?#].*/, "") : null;
  if (request.method === "GET" && name !== null && (name === "" || LAB_FILES.includes(name))) {
    // The browser's HTTP cache may be outdated as well: revalidates with the server.
    event.respondWith(fetch(request.url, { cache: "no-cache" }).catch(() => kept(name === "" ? "index.html" : name)));
  }
});

// All files of this build, or none.
async function keep(): Promise<void> {
  const cache = await caches.open(KEPT);
  await cache.addAll(LAB_FILES.map((name) => new Request(name, { cache: "reload" })));
  await host.skipWaiting();
}

async function forgetOthers(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(OURS) && name !== KEPT).map((name) => caches.delete(name)));
}

async function kept(name: string): Promise<Response> {
  const cache = await caches.open(KEPT);
  return (await cache.match(name)) ?? Response.error();
}
