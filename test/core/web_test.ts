/**
 * The pages that the server draws itself.
 *
 * @module
 */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { type App, createApp } from "../../core/app.ts";
import { readConfig } from "../../core/config/mod.ts";
import { findUser, listAccounts, newSetupLink } from "../../core/identity/mod.ts";
import { temporaryDir } from "../fixture.ts";
import { shelvesPlugin } from "./docs_plugin.ts";

let app: App;
let folder: ReturnType<typeof temporaryDir>;

beforeEach(() => {
  folder = temporaryDir();
  const config = readConfig({ INNKEEP_DATA_DIR: folder.dir, INNKEEP_LOG_LEVEL: "fatal" });
  app = createApp({ config, plugins: [shelvesPlugin] });
});

afterEach(async () => {
  await app.stop();
  folder[Symbol.dispose]();
});

const get = (path: string): Promise<Response> =>
  app.fetch(new Request(`http://localhost:3000${path}`));

const setupPath = async (): Promise<string> => {
  const { pathname, search } = new URL((await newSetupLink(app)) ?? "");
  return pathname + search;
};

const typed = {
  account: "Lake <homes>",
  email: "Ada@example.com",
  password: "correct horse battery",
};

const post = (
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> =>
  app.fetch(
    new Request(`http://localhost:3000${path}`, {
      method: "POST",
      body: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    }),
  );

const accounts = (): Promise<{ name: string }[]> => app.store.read(listAccounts);

describe("GET /", () => {
  test("is a page with a strict policy and nothing inline", async () => {
    const answer = await get("/");
    expect(answer.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    const text = await answer.text();
    expect(text).toStartWith("<!doctype html>");
    expect(text).toContain("<title>Innkeep</title>");
    expect(text).toMatch(/<script src="\/assets\/first\.[\w-]{16}\.js"/);
    expect(text).not.toMatch(/ style=| on[a-z]+=|<style|<script>/);
    expect(text).not.toMatch(/(src|href)="https?:/);
  });

  test("is drawn with files that may be kept for good", async () => {
    const text = await (await get("/")).text();
    const paths = new Set(
      [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path as string),
    );
    expect(paths.size).toBe(3);
    for (const path of paths) {
      const file = await get(path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect((await get("/favicon.ico")).headers.get("content-type")).toBe("image/svg+xml");
  });

  test("says whether there is an account", async () => {
    expect(await (await get("/")).text()).toContain("There is no account yet");
    await post(await setupPath(), typed);
    expect(await (await get("/")).text()).not.toContain("There is no account yet");
  });
});

describe("Setup", () => {
  test("shows a form that works without a script, and is kept nowhere", async () => {
    const path = await setupPath();
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const text = await answer.text();
    expect(text).toContain(`<form method="post" action="${path}">`);
    for (const name of ["account", "email", "password"])
      expect(text).toContain(`<label for="${name}">`);
    expect(text).not.toContain("<script");
  });

  test("makes the first account with its owner, once", async () => {
    const path = await setupPath();
    const made = await post(path, typed);
    expect(made.status).toBe(200);
    const text = await made.text();
    expect(text).toContain("Lake &lt;homes&gt; is set up");
    expect(text).toContain("keys create");
    expect(text).toContain('href="/docs"');
    expect((await accounts()).map(({ name }) => name)).toEqual(["Lake <homes>"]);
    const user = await app.store.read((db) => findUser(db, "ada@example.com"));
    expect(await Bun.password.verify(typed.password, user?.password_hash ?? "")).toBe(true);

    const [again, shown] = [await post(path, typed), await get(path)];
    expect([again.status, shown.status]).toEqual([410, 410]);
    expect(await shown.text()).toContain("There is an account already");
    expect(await accounts()).toHaveLength(1);
  });

  test("sent twice at once makes one account", async () => {
    const path = await setupPath();
    const answers = await Promise.all([
      post(path, typed),
      post(path, { ...typed, email: "eve@example.com" }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 410]));
    expect(await accounts()).toHaveLength(1);
  });

  test("says at its field what is wrong, and keeps what was typed but for the password", async () => {
    const path = await setupPath();
    const short = await post(path, { ...typed, password: "short" });
    expect(short.status).toBe(422);
    const text = await short.text();
    expect(text).toContain(
      '<p class="fault" id="password-fault">The password must have at least 10 characters</p>',
    );
    expect(text).toContain('aria-invalid="true"');
    expect(text).toContain('value="Lake &lt;homes&gt;"');
    expect(text).toContain('value="Ada@example.com"');
    expect(text).not.toContain("short");
    expect(await (await post(path, { ...typed, email: "nobody" })).text()).toContain(
      'id="email-fault"',
    );
    expect(await (await post(path, { ...typed, account: " " })).text()).toContain(
      'id="account-fault"',
    );
    expect(await accounts()).toEqual([]);
    // The link is still good.
    expect((await post(path, typed)).status).toBe(200);
  });

  test("knows no other link", async () => {
    await setupPath();
    for (const path of ["/setup", "/setup?token=", "/setup?token=guessed"]) {
      expect((await get(path)).status).toBe(404);
      expect((await post(path, typed)).status).toBe(404);
    }
    const old = await setupPath();
    await setupPath();
    expect((await get(old)).status).toBe(404);
    expect(await accounts()).toEqual([]);
  });

  test("is not done for other sites", async () => {
    const path = await setupPath();
    const from = async (headers: Record<string, string>): Promise<number> =>
      (await post(path, typed, headers)).status;
    expect(await from({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await from({ "sec-fetch-site": "same-site" })).toBe(403);
    expect(await from({ origin: "https://evil.example" })).toBe(403);
    expect(await accounts()).toEqual([]);
    // What browsers send from a page with `no-referrer`.
    expect(await from({ "sec-fetch-site": "same-origin", origin: "null" })).toBe(200);
  });
});
