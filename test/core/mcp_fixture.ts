import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import type { Plugin } from "#core";

import { type App, createApp } from "../../core/app.ts";
import { readConfig } from "../../core/config/mod.ts";
import { insertAccount, insertKey, prepareAccount } from "../../core/identity/mod.ts";
import { cabinsPlugin } from "./mcp_plugin.ts";

/** A whole server on a port of its own, with the plugin of `mcp_plugin.ts`. */
export interface McpFixture {
  readonly app: App;
  readonly url: string;
  readonly account_id: string;
  /** Makes an API key. */
  key(scopes?: readonly string[], tier?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts it. */
export async function startMcp(plugins: readonly Plugin[] = [cabinsPlugin]): Promise<McpFixture> {
  const dir = mkdtempSync(join(tmpdir(), "mcp-"));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // The address must be known before the app: it is in its configuration.
    fetch: (request, own) => app.fetch(request, () => own.requestIP(request)?.address),
  });
  const base = `http://127.0.0.1:${server.port}`;
  const config = readConfig({
    INNKEEP_DATA_DIR: dir,
    INNKEEP_BASE_URL: base,
    INNKEEP_LOG_LEVEL: "silent",
    INNKEEP_RATE_TIERS: "few=2,anonymous=1000,enterprise=100000",
  });
  const app = createApp({ config, plugins });
  const { store, clock } = app;
  const owner = { name: "Lake homes", email: "ada@example.com", password: "correct horse battery" };
  const prepared = await prepareAccount(owner, undefined);
  const { account_id } = await store.write((db) => insertAccount(db, prepared, clock.now()));
  return {
    app,
    url: `${base}/mcp`,
    account_id,
    async key(scopes = ["*"], tier = "enterprise") {
      const more = { label: "test", listing_ids: null, expires_at: null, created_by: "test" };
      const wanted = { account_id, scopes, tier, ...more };
      const { key } = await store.write((db) => insertKey(db, wanted, clock.now()));
      return key;
    },
    async stop() {
      await server.stop(true);
      await app.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A tool, as a client sees it. */
export interface SeenTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: { readonly properties: Record<string, Record<string, unknown>> };
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

/** What a call answers, as a client sees it. */
export interface SeenResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

/** A real client of either era. */
export interface McpClient {
  readonly version: string | undefined;
  readonly instructions: string | undefined;
  list(): Promise<readonly SeenTool[]>;
  call(
    name: string,
    args?: Record<string, unknown>,
    progress?: (done: number) => void,
  ): Promise<SeenResult>;
  close(): Promise<void>;
}

/** How to connect. */
export interface ConnectOptions {
  readonly headers: Record<string, string>;
}

const info = { name: "test", version: "1.0.0" };

/** A client of the eras up to 2025-11-25. */
export async function connectLegacy(url: string, { headers }: ConnectOptions): Promise<McpClient> {
  const client = new Client(info);
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return {
    version: transport.protocolVersion,
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools as unknown as SeenTool[],
    async call(name, args = {}, progress) {
      const options =
        progress === undefined
          ? {}
          : { onprogress: (seen: { progress: number }) => progress(seen.progress) };
      return (await client.callTool(
        { name, arguments: args },
        undefined,
        options,
      )) as unknown as SeenResult;
    },
    close: () => client.close(),
  };
}

/** A client of 2026-07-28, and of nothing else. */
export async function connectModern(url: string, { headers }: ConnectOptions): Promise<McpClient> {
  const version = "2026-07-28";
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: version } } });
  await client.connect(new ModernTransport(new URL(url), { requestInit: { headers } }));
  return {
    version: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools as unknown as SeenTool[],
    async call(name, args = {}, progress) {
      const options =
        progress === undefined
          ? {}
          : { onprogress: (seen: { progress: number }) => progress(seen.progress) };
      return (await client.callTool({ name, arguments: args }, options)) as unknown as SeenResult;
    },
    close: () => client.close(),
  };
}

/** The error that a piece of work is bound to end with. */
export async function failure(work: Promise<unknown>): Promise<Error> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error(`It went well: ${JSON.stringify(outcome)}`);
}
