/**
 * Pages as people have them: a real Chromium in front of a real port. Where there is no Chromium the tests are
 * skipped, and say so.
 *
 * @module
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Browser, chromium, type Page } from "playwright-core";

import { serve, type Served } from "../fixture.ts";

/** Does it start? Debian's is a script, which on a bare machine lacks its tools. */
const starts = (file: string): boolean => Bun.spawnSync([file, "--version"]).success;

/** What `CHROMIUM` names is taken as it is, so that a wrong one is an error and not a skip. */
const executable =
  process.env.CHROMIUM ??
  ["/usr/bin/chromium", "chromium", "google-chrome", "chrome"]
    .map((name) => Bun.which(name))
    .find((file): file is string => file !== null && starts(file));

/** Is there no browser? Then this says so, once. */
export const browserless = executable === undefined;

if (browserless)
  process.stderr.write(
    "\nThe tests of pages are SKIPPED: no Chromium was found that starts. Install one (Debian, Ubuntu: apt install " +
      "chromium; macOS: brew install --cask chromium), or name the file of a Chromium or Chrome in CHROMIUM.\n\n",
  );

/** What a test may take that drives a browser on a busy machine, in milliseconds. */
export const patience = 30_000;

let launched: Promise<Browser> | undefined;

/** One browser serves all tests; its profile is a new folder, and gone when it closes. */
function launch(): Promise<Browser> {
  launched ??= chromium.launch({
    ...(executable === undefined ? {} : { executablePath: executable }),
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
    timeout: patience,
  });
  return launched;
}

/** After the last test. */
export async function closeBrowser(): Promise<void> {
  await (await launched)?.close();
  launched = undefined;
}

/** A server that can be reached. */
export interface Listening extends AsyncDisposable {
  readonly server: Served;
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string;
}

/** Serves an empty database on a free port. */
export async function listen(): Promise<Listening> {
  const socket = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, socket) => server.app.fetch(request, () => socket.requestIP(request)?.address),
  });
  const { origin } = socket.url;
  // Going on with a folder that holds nothing yet, the fixture makes no account.
  const dir = mkdtempSync(join(tmpdir(), "innkeep-test-"));
  const server = await serve({ dir, env: { BASE_URL: origin } });
  return {
    server,
    origin,
    async [Symbol.asyncDispose]() {
      await socket.stop(true);
      await server[Symbol.asyncDispose]();
    },
  };
}

/** How somebody comes to a page. */
export interface VisitOptions {
  /** In pixels; 1280 where absent. */
  readonly width?: number;
  readonly dark?: boolean;
  /** Do scripts run? */
  readonly scripts?: boolean;
}

/** Somebody's tab, with what must not happen in it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the console and of scripts, and what the content security policy held back. */
  readonly faults: string[];
  /** Requests to anywhere but the server. */
  readonly strays: string[];
}

/** Opens a tab of somebody who was never here before. */
export async function visit(
  { origin }: Listening,
  { width = 1280, dark = false, scripts = true }: VisitOptions = {},
): Promise<Visit> {
  const context = await (
    await launch()
  ).newContext({
    baseURL: origin,
    viewport: { width, height: 800 },
    colorScheme: dark ? "dark" : "light",
    javaScriptEnabled: scripts,
  });
  context.setDefaultTimeout(patience / 3);
  const faults: string[] = [];
  const strays: string[] = [];
  context.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  context.on("weberror", (error) => faults.push(String(error.error())));
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) strays.push(url);
  });
  // The console leaves out what a policy holds back quietly.
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error("Held back by " + violatedDirective + ": " + blockedURI));`,
  );
  const page = await context.newPage();
  return { page, faults, strays, [Symbol.asyncDispose]: () => context.close() };
}
