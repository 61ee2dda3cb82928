/**
 * The first page: what this is, whether it is ready, and what to do first.
 *
 * @module
 */

import type { App } from "../app.ts";
import { isEmpty } from "../identity/setup_link.ts";
import { assets } from "./assets.ts";
import { type Html, html } from "./html.ts";
import { code, page, program } from "./page.ts";

/** Draws it. */
export async function firstPage({ store, config, registry }: App): Promise<Response> {
  const { baseUrl } = config;
  const empty = await store.read(isEmpty);
  return page({
    title: "Innkeep",
    script: assets.firstPage,
    body: html`<main>
      <section class="intro">
        <p class="state">
          <span data-state="good" role="status">Running</span
          >${empty ? "" : " · There is an account"}
        </p>
        <h1>Property management on your own server.</h1>
        <p class="lead">
          Innkeep manages short-term rentals from one process and one folder of data: listings,
          calendars, reservations and guests, by a REST API, an MCP server and signed webhooks.
        </p>
        <p class="links">
          <a class="button" href="/docs">API reference</a><a href="/llms.txt">llms.txt</a
          ><a href="/v1/openapi.json">OpenAPI</a>
        </p>
      </section>
      ${empty ? noAccount() : undefined}
      <section aria-labelledby="steps">
        <h2 id="steps">First steps</h2>
        <div class="cards">
          ${operators(empty)}
          ${card("REST", "Make a key, then call the API with it.", restSteps(baseUrl))}
          ${card("Assistants", "Give this to a client of MCP, with a key of its own.", assistantSteps(baseUrl))}
          ${card(
            "Webhooks",
            `Subscribe to any of ${registry.events.size} events; each delivery is signed.`,
            webhookSteps(baseUrl),
          )}
        </div>
      </section>
    </main>`,
  });
}

const operators = (empty: boolean): Html =>
  empty
    ? card(
        "Operators",
        "Make an account, then add a first listing.",
        `${accountStep}\n\n${listingStep}`,
      )
    : card("Operators", "Add a listing from the command line.", listingStep);

// Lines are short enough for a phone.
const accountStep = `${program} setup \\
  --account "Lake homes" \\
  --email you@example.com \\
  --password …`;

const listingStep = `${program} call listings.create \\
  --json '{"title": "Lake house",
    "timezone": "Europe/Rome",
    "currency": "EUR"}'`;

const restSteps = (baseUrl: string): string => `${program} keys create \\
  --label "First key" --scopes "*"

curl ${baseUrl}/v1/listings \\
  -H "X-API-Key: $KEY"`;

const assistantSteps = (baseUrl: string): string => `{
  "mcpServers": {
    "innkeep": {
      "url": "${baseUrl}/mcp",
      "headers": {"X-API-Key": "KEY"}
    }
  }
}`;

const webhookSteps = (baseUrl: string): string => `curl ${baseUrl}/v1/webhooks \\
  -H "X-API-Key: $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"url": "https://example.com/hook",
       "events": ["*"]}'`;

const noAccount = (): Html =>
  html`<section class="notice" aria-labelledby="account">
    <h2 id="account">There is no account yet</h2>
    <p>
      When the server started it printed a link that ends in <code>/setup?token=…</code> to its log.
      Open it to make the first account; it works once. If the log is gone, start the server again
      for a new link, or use the command line.
    </p>
  </section>`;

const card = (title: string, words: string, example: string): Html =>
  html`<article class="card">
    <h3>${title}</h3>
    <p>${words}</p>
    ${code(example)}
  </article> `;
