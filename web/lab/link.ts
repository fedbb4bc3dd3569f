// Links that contain everything: the scenarios and the seed, compressed, after the `#`, which is never sent to a server.

import { count } from "./words";

export interface LinkPayload {
  // Version of the format.
  v: 1;
  // Version of Tailback: another version may give other results.
  version: string;
  seed: number;
  toml: string;
  // The second variant, if there is one.
  other?: string;
}

const MARK = "#1.";
// Links that expand to more than this are rejected.
const MOST = 2_000_000;
const SEEDS = 2 ** 53;

export class LinkError extends Error {
  get sentence(): string {
    return `${this.message[0]?.toUpperCase()}${this.message.slice(1)}.`;
  }
}

export async function fragment(linked: LinkPayload): Promise<string> {
  const whole = new Blob([JSON.stringify(linked)]);
  if (whole.size > MOST) {
    throw new LinkError(`there is no link to this: it has ${count(whole.size)} bytes, and the limit is ${count(MOST)}; use Export to save the scenario`);
  }
  const packed = whole.stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  let text = "";
  bytes.forEach((byte) => {
    text += String.fromCharCode(byte);
  });
  return MARK + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The content of a link. It is treated as data, and invalid content is refused.
export async function unfolded(hash: string): Promise<LinkPayload> {
  if (!hash.startsWith(MARK)) {
    throw new LinkError(/^#\d+\./.test(hash) ? "this link was made by another version of the lab with a different link format" : "this is not a link of the lab");
  }
  let text: string;
  try {
    const packed = atob(hash.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
    // gzip has a checksum, which detects truncated or altered links.
    const stream = new Blob([Uint8Array.from(packed, (letter) => letter.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"));
    text = await limited(stream);
  } catch {
    throw new LinkError("this link was truncated or altered: copy all of it");
  }
  const found = parsed(text);
  if (!found) {
    throw new LinkError("this link was made by another version of the lab with a different link format");
  }
  return found;
}

async function limited(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return text + decoder.decode();
    }
    size += value.length;
    if (size > MOST) {
      throw new Error("too large");
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parsed(text: string): LinkPayload | null {
  let found: Partial<LinkPayload>;
  try {
    found = JSON.parse(text) as Partial<LinkPayload>;
  } catch {
    return null;
  }
  const { v, version, seed, toml, other } = found ?? {};
  const fits = v === 1 && typeof version === "string" && Number.isSafeInteger(seed) && (seed as number) >= 0 && (seed as number) < SEEDS && typeof toml === "string";
  if (!fits || (other !== undefined && typeof other !== "string")) {
    return null;
  }
  return { v: 1, version: version as string, seed: seed as number, toml: toml as string, ...(other === undefined ? {} : { other }) };
}
