/**
 * The files of the pages: embedded in the program, under names that change with their content.
 *
 * @module
 */

import type { App } from "../app.ts";
import { type Endpoint, endpoint } from "../http/endpoint.ts";
import { sha256 } from "../secrets/mod.ts";
import firstPage from "./first_page.browser.js" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };

import style from "./page.css" with { type: "text" };

/** A file and where it is served. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

const asset = (name: string, extension: string, type: string, text: string): Asset => ({
  path: `/assets/${name}.${sha256(text).slice(0, 16)}.${extension}`,
  type,
  text,
});

/** All of them. */
export const assets = {
  style: asset("page", "css", "text/css; charset=utf-8", style),
  firstPage: asset("first", "js", "text/javascript; charset=utf-8", firstPage),
  icon: asset("icon", "svg", "image/svg+xml", icon),
} as const;

/** Serves them. Browsers ask for `/favicon.ico` where a page names no icon. */
export function createAssets(app: App): Endpoint[] {
  const serve = (path: string, { type, text }: Asset, caching: string): Endpoint =>
    endpoint(app, {
      path,
      page: true,
      answer: () =>
        new Response(text, { headers: { "content-type": type, "cache-control": caching } }),
    });
  return [
    ...Object.values(assets).map((one) =>
      serve(one.path, one, "public, max-age=31536000, immutable"),
    ),
    serve("/favicon.ico", assets.icon, "public, max-age=86400"),
  ];
}
