/**
 * Tries a built binary as an operator would who has nothing else: in an empty folder, with an
 * empty environment. `bun .tools/smoke.ts dist/innkeep` exits 0 where all of it works.
 *
 * @module
 */

import { strict as assert } from "node:assert";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = await mkdtemp(join(tmpdir(), "innkeep-smoke-"));
const binary = join(folder, "innkeep");
await copyFile(process.argv[2] ?? "dist/innkeep", binary);

/** A command of the binary; answers the one JSON document that it prints. */
async function run(...args: string[]): Promise<Record<string, unknown>> {
  const child = Bun.spawn([binary, ...args], { cwd: folder, env: {}, stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  assert.equal(await child.exited, 0, `"innkeep ${args[0]}" failed: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => probe.once("listening", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  assert(address !== null && typeof address === "object");
  return address.port;
}

/** The answer to the first request that is answered at all. */
async function untilReady(url: string): Promise<Response> {
  for (let left = 100; ; left--) {
    try {
      return await fetch(url);
    } catch (error) {
      if (left === 0) throw error;
      await Bun.sleep(100);
    }
  }
}

try {
  assert.equal(typeof (await run("version"))["version"], "string");
  await run(
    "setup",
    "--account",
    "Smoke",
    "--email",
    "smoke@example.com",
    "--password",
    "9 smoky barns",
  );
  const { key } = await run("keys", "create", "--label", "smoke", "--scopes", "*");

  const port = await freePort();
  const env = { INNKEEP_PORT: String(port) };
  const server = Bun.spawn([binary], { cwd: folder, env, stdout: "ignore", stderr: "pipe" });
  try {
    const at = `http://127.0.0.1:${port}`;
    assert.equal((await untilReady(`${at}/healthz`)).status, 200, "GET /healthz");
    const listings = await fetch(`${at}/v1/listings`, { headers: { "x-api-key": String(key) } });
    assert.equal(listings.status, 200, `GET /v1/listings: ${await listings.text()}`);
    const page = await fetch(at);
    assert.equal(page.status, 200, "GET /");
    assert.match(await page.text(), /<title>/i);
  } finally {
    server.kill("SIGTERM");
  }
  assert.equal(await server.exited, 0, `SIGTERM: ${await server.stderr.text()}`);
  assert.deepEqual((await readdir(folder)).toSorted(), ["data", "innkeep"]);
  console.log("The binary works alone, in an empty folder with an empty environment.");
} finally {
  await rm(folder, { recursive: true });
}
