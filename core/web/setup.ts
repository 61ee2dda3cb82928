/**
 * Setup: whoever holds the one-time link makes the first account and becomes its owner.
 *
 * @module
 */

import { verifyRequestOrigin } from "oslo/request";

import type { App } from "../app.ts";
import { noteDeed } from "../audit/note.ts";
import { type Endpoint, endpoint } from "../http/endpoint.ts";
import { readBody } from "../http/input.ts";
import {
  findUser,
  insertAccount,
  isSetupToken,
  prepareAccount,
  useSetupToken,
} from "../identity/mod.ts";
import { isEmpty } from "../identity/setup_link.ts";
import { Problem } from "../plugin/problem.ts";
import { declined, done, form, type Typed } from "./setup_pages.ts";

const path = "/setup";

/** The page and what its form is sent to. Neither the link nor what was typed is ever logged. */
export function createSetup(app: App): Endpoint[] {
  const { store, clock, config, log } = app;

  const refusal = async (token: string): Promise<Response | undefined> => {
    const { empty, valid } = await store.read(async (db) => ({
      empty: await isEmpty(db),
      valid: await isSetupToken(db, token),
    }));
    if (valid) return undefined;
    return declined(empty ? "unknown" : "used");
  };

  const show = async ({ url }: Request): Promise<Response> => {
    const token = tokenOf(url);
    return (
      (await refusal(token)) ?? form({ token, typed: { account: "", email: "" }, status: 200 })
    );
  };

  const take = async (request: Request): Promise<Response> => {
    if (!isOwnOrigin(request, config.baseUrl)) return declined("foreign");
    const token = tokenOf(request.url);
    const refused = await refusal(token);
    if (refused !== undefined) return refused;
    const sent = new URLSearchParams(await readBody(request));
    const typed: Typed = {
      account: sent.get("account") ?? "",
      email: (sent.get("email") ?? "").trim(),
    };
    const wanted = {
      name: typed.account,
      email: typed.email,
      password: sent.get("password") ?? "",
    };
    try {
      const prepared = await prepareAccount(
        wanted,
        await store.read((db) => findUser(db, wanted.email)),
      );
      const made = await store.write(async (db) => {
        const now = clock.now();
        if (!(await useSetupToken(db, token, now))) return undefined;
        const ids = await insertAccount(db, prepared, now);
        const input = { account: prepared.name };
        await noteDeed(db, clock, {
          ...ids,
          surface: "dashboard",
          operation: "identity.setup",
          input,
        });
        return ids;
      });
      if (made === undefined) return declined("used");
      log.info({ account_id: made.account_id }, "The first account was made");
      return done(prepared.name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return form({ token, typed, status: error.status, problem: error });
    }
  };

  return [
    endpoint(app, { path, page: true, answer: ({ request }) => show(request) }),
    endpoint(app, { method: "POST", path, page: true, answer: ({ request }) => take(request) }),
  ];
}

const tokenOf = (url: string): string => new URL(url).searchParams.get("token") ?? "";

/**
 * Was the form sent from this page? Browsers that tell where a request comes from are believed. One that tells nothing
 * (an old one, or over plain http, where the page's own `no-referrer` empties the origin) still has to know the token.
 */
function isOwnOrigin({ url, headers }: Request, baseUrl: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = headers.get("origin");
  if (origin === null || origin === "null") return true;
  return verifyRequestOrigin(origin, [new URL(url).host, new URL(baseUrl).host]);
}
