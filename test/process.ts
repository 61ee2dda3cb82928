/**
 * The command line as a process of its own, as operators and scripts have it.
 *
 * @module
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = join(import.meta.dir, "..");

/**
 * What is run: the sources, or the binary that `INNKEEP_TEST_BINARY` names: alone in an empty folder, with an empty
 * environment.
 */
const binary = process.env.INNKEEP_TEST_BINARY;
const command = binary === undefined ? [process.execPath, "server.ts"] : [resolve(root, binary)];
const folder = binary === undefined ? root : mkdtempSync(join(tmpdir(), "innkeep-alone-"));

/** The environment of a process: nothing of ours but the path, and `INNKEEP_…` without the prefix. */
export type Settings = Readonly<Record<string, string>>;

function environment(settings: Settings): Record<string, string> {
  const own = Object.entries(settings).map(([name, value]) => [`INNKEEP_${name}`, value]);
  if (binary !== undefined) return Object.fromEntries(own);
  return { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...Object.fromEntries(own) };
}

/** What came of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export async function run(settings: Settings, ...args: readonly string[]): Promise<Ran> {
  const child = Bun.spawn([...command, ...args], {
    cwd: folder,
    env: environment(settings),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { code, out, err };
}

/** How long a server may take to listen, on a busy machine too. */
const patience = 30_000;

/** A running server. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What it has said so far, on standard error. */
  readonly err: string;
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number>;
  kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
  /** Ends it, if it has not ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts `serve` and waits until it listens, on a free port unless told otherwise. `before` runs it under a tool. */
export async function startServer(
  settings: Settings,
  before: readonly string[] = [],
): Promise<ServerProcess> {
  const child = Bun.spawn([...before, ...command, "serve"], {
    cwd: folder,
    env: environment({ PORT: "0", ...settings }),
    stdout: "pipe",
    stderr: "pipe",
  });
  let err = "";
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>();
  const listen = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) {
      err += decoder.decode(bytes, { stream: true });
      const [, port] = /"port":(\d+),"msg":"Innkeep is listening"/.exec(err) ?? [];
      if (port !== undefined) resolve(Number(port));
    }
    reject(new Error(`The server ended: ${err}`));
  };
  void listen();
  const late = setTimeout(() => {
    child.kill("SIGKILL");
    reject(new Error(`The server did not come up: ${err}`));
  }, patience);
  const port = await listening.finally(() => clearTimeout(late));
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    exited: child.exited,
    get err() {
      return err;
    },
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await child.exited;
    },
  };
}
