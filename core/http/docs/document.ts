/**
 * Documents: texts that are the same for everybody until the server restarts. Made when first asked for, sent small to
 * whoever takes gzip, and not at all to whoever has them already.
 *
 * @module
 */

import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { sha256 } from "../../secrets/mod.ts";

const shrink = promisify(gzip);

/** Answers with a document. */
export type Serve = (request: Request) => Promise<Response>;

/** Makes the answerer of a document. */
export function createDocument(
  make: () => string | Promise<string>,
  headers: Readonly<Record<string, string>>,
): Serve {
  const made = once(async () => {
    const text = await make();
    return { text, tag: sha256(text).slice(0, 32) };
  });
  const small = once(async () => await zipped((await made()).text));
  return async (request) => {
    const { text, tag } = await made();
    const gzipped = takesGzip(request);
    // Two forms of one document have two tags (RFC 9110 §8.8.3).
    const etag = gzipped ? `"${tag}-gzip"` : `"${tag}"`;
    const all = { "cache-control": "no-cache", ...headers, etag, vary: "accept-encoding" };
    if (request.headers.get("if-none-match")?.includes(tag) === true)
      return new Response(null, { status: 304, headers: all });
    if (!gzipped) return new Response(text, { headers: all });
    return new Response(await small(), { headers: { ...all, "content-encoding": "gzip" } });
  };
}

/** Makes something when it is first asked for. A failure is not kept. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** The bytes, small. */
export const zipped = (data: string | Uint8Array): Promise<Uint8Array<ArrayBuffer>> => shrink(data);

/** Does the reader take gzip? */
export const takesGzip = ({ headers }: Request): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(headers.get("accept-encoding") ?? "");
