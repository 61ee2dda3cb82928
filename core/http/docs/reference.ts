/**
 * The browsable reference at `/docs`: the page of @elysiajs/swagger with its viewer, Scalar, out of our own hands. No
 * other address is ever asked, so that it works offline and tells nobody who reads it.
 *
 * @module
 */

// Its package names no such file among its exports, so the path is written out. Being imported, it is in the binary.
import viewer from "../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import type { App } from "../../app.ts";
import { Problem } from "../../plugin/problem.ts";
import { sha256 } from "../../secrets/mod.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { createDocument, once, takesGzip, zipped } from "./document.ts";

import theme from "./reference.css" with { type: "text" };

const assets = "/docs/assets";

/** `/docs` and its viewer. Nothing of it is read before somebody asks. */
export function createReference(app: App): Endpoint[] {
  const script = createScript();
  const page = once(async () => drawPage(await script.name()));
  const document = once(async () => {
    const text = await page();
    return createDocument(() => text, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy(text, app.config.baseUrl),
      "referrer-policy": "no-referrer",
    });
  });

  return [
    endpoint(app, {
      path: "/docs",
      page: true,
      answer: async ({ request }) => (await document())(request),
    }),
    endpoint(app, {
      path: `${assets}/:file`,
      page: true,
      async answer({ request }, { file }) {
        if (file !== (await script.name()))
          throw new Problem("not_found", "There is no such file: load /docs again");
        return await script.serve(request);
      },
    }),
  ];
}

/** The viewer's script, under a name that changes with it. Big as it is, only its small form is kept. */
function createScript() {
  const file = Bun.file(viewer);
  const small = once(async () => await zipped(await file.bytes()));
  const headers = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  };
  return {
    name: once(async () => `viewer.${sha256(await file.bytes()).slice(0, 16)}.js`),
    async serve(request: Request): Promise<Response> {
      if (!takesGzip(request)) return new Response(await file.bytes(), { headers });
      return new Response(await small(), { headers: { ...headers, "content-encoding": "gzip" } });
    },
  };
}

async function drawPage(script: string): Promise<string> {
  const { swagger } = await import("@elysiajs/swagger");
  const settings = {
    ...viewerSettings,
    customCss: theme,
    // The plugin would name the document in a way that its viewer calls deprecated.
    spec: undefined,
    url: "/v1/openapi.json",
  };
  const plugin = swagger({
    path: "/docs",
    scalarCDN: `${assets}/${script}`,
    // The plugin's types are those of an older viewer.
    scalarConfig: settings as object,
    documentation: {
      info: {
        title: "Innkeep API",
        description: "The reference of Innkeep's REST API and webhooks.",
        version: "1",
      },
    },
  });
  const page = await (await plugin.handle(new Request("http://localhost/docs"))).text();
  return page
    .replace(' data-url="undefined"', "")
    .replace("<html>", '<html lang="en">')
    .replace("<head>", `<head><script>${withoutEval}</script>`);
}

/** The viewer's validation library else tries whether it may `eval`, which the policy has to hold back each time. */
const withoutEval = "globalThis.__zod_globalConfig = { jitless: true };";

const viewerSettings = {
  theme: "none",
  layout: "modern",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  documentDownloadType: "direct",
  persistAuth: false,
  orderSchemaPropertiesBy: "preserve",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "apiKey" },
  metaData: { title: "Innkeep API" },
};

/**
 * Scripts are ours alone. Of styles the viewer writes many into the page, so these are allowed there; with no address
 * to fetch from they can do nothing but look bad.
 */
function policy(page: string, baseUrl: string): string {
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)].map(
    ([, code]) => code ?? "",
  );
  const hashes = inline.map(
    (code) => `'sha256-${new Bun.CryptoHasher("sha256").update(code).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    // The server's own address, which may be another than the one that this page was opened at.
    `connect-src 'self' ${baseUrl}`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
