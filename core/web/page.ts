/**
 * The frame of the pages that the server draws itself: readable without a script, and without any other address.
 *
 * @module
 */

import { version } from "../version.ts";
import { type Asset, assets } from "./assets.ts";
import { type Html, html } from "./html.ts";

/** What a page is made of. */
export interface PageOptions {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  readonly script?: Asset;
  /** May it be kept by the browser? */
  readonly secret?: boolean;
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Draws a page. */
export function page({ title, body, status = 200, script, secret = false }: PageOptions): Response {
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${assets.icon.path}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets.style.path}" />
        ${script === undefined ? undefined : html`<script src="${script.path}" type="module"></script>`}
      </head>
      <body>
        <header class="bar">
          <a class="brand" href="/"
            ><img src="${assets.icon.path}" alt="" width="24" height="24" />Innkeep</a
          >
          <span class="version">${version}</span>
        </header>
        ${body}
      </body>
    </html> `;
  return new Response(markup, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "cache-control": secret ? "no-store" : "no-cache",
    },
  });
}

/** How the program is called: by its name where it is one file, else as the README runs the source, without a Bun. */
export const program =
  import.meta.path.includes("$bunfs") || import.meta.path.includes("~BUN")
    ? "innkeep"
    : "npm start --";

/** A command or a request, to be copied. */
export const code = (text: string): Html =>
  html`<div class="code">
    <pre><code>${text}</code></pre>
  </div>`;
