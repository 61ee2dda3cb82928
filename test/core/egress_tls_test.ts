import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { makeAuthority, startReceiver, startSilentPort } from "../tls.ts";
import { answered, type EgressFixture, failed, SECRET, startFixture } from "./egress_fixture.ts";

let fixture: EgressFixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.close());

/** Runs a script in a process of its own, for what the environment decides. Prints what it answers. */
async function run(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const root = join(import.meta.dir, "../..");
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return output.trim();
}

/** A script that posts to each URL, prints the statuses or the reasons and ends once no timer is left. */
function script(ca: string, ...urls: readonly string[]): string {
  return `
    import { createEgress } from "./core/egress/mod.ts";
    const egress = createEgress(${JSON.stringify({ allow: ["127.0.0.0/8"], ca })});
    const seen = [];
    for (const url of ${JSON.stringify(urls)}) {
      const answer = await egress.request({ method: "POST", url, headers: {}, deadline_ms: 60_000 });
      seen.push(answer.kind === "answer" ? answer.status : answer.reason);
    }
    console.log(seen.join());
  `;
}

test("request() trusts no certificate of an unknown authority", async () => {
  const { receiver, authority } = fixture;
  const url = receiver.url(`/${SECRET}`, "hooks.test");
  const before = receiver.hits.length;
  // A warm connection of somebody who trusts it must not help.
  await answered(fixture.open(), url);
  const stranger = fixture.open({ ca: makeStranger() });
  const failure = await failed(stranger, url);
  expect(failure).toMatchObject({ reason: "tls", address: "127.0.0.1" });
  expect(failure.message).toContain("unknown authority");
  expect(receiver.hits.length).toBe(before + 1);
  expect(authority.ca).not.toBe("");
});

function makeStranger(): string {
  return makeAuthority().ca;
}

test("request() checks the certificate against the name, though it dials an address", async () => {
  const failure = await failed(fixture.open(), fixture.receiver.url(`/${SECRET}`, "wrong.test"));
  expect(failure.reason).toBe("tls");
  expect(failure.message).toContain("another name");
});

test("request() checks the certificate against the address where the URL names one", async () => {
  const receiver = await startReceiver(fixture.authority.issue(["DNS:localhost", "IP:127.0.0.2"]));
  expect((await failed(fixture.open(), receiver.url(`/${SECRET}`))).reason).toBe("tls");
  expect((await answered(fixture.open(), receiver.url("/", "localhost"))).status).toBe(200);
  await receiver.close();
});

test("request() refuses a certificate that has expired", async () => {
  const leaf = fixture.authority.issue(["DNS:hooks.test"], { expired: true });
  const receiver = await startReceiver(leaf);
  const failure = await failed(fixture.open(), receiver.url(`/${SECRET}`, "hooks.test"));
  expect(failure.reason).toBe("tls");
  expect(failure.message).toContain("has expired");
  await receiver.close();
});

test("request() names a peer that speaks no TLS", async () => {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n") },
  });
  const failure = await failed(fixture.open(), `https://hooks.test:${server.port}/${SECRET}`);
  expect(failure.reason).toBe("tls");
  server.stop(true);
});

test("request() keeps the system's authorities beside the extra ones", async () => {
  const dir = mkdtempSync(join(tmpdir(), "egress-"));
  const { ca, key, cert } = makeAuthority();
  await Bun.write(join(dir, "system.pem"), fixture.authority.ca);
  const other = await startReceiver({ key, cert });
  const urls = [fixture.receiver.url("/", "localhost"), other.url("/", "localhost")];
  const seen = await run(script(ca, ...urls), { NODE_EXTRA_CA_CERTS: join(dir, "system.pem") });
  expect(seen).toBe("200,200");
  expect(await run(script(ca, ...urls), {})).toBe("tls,200");
  await other.close();
  rmSync(dir, { recursive: true, force: true });
});

test("request() checks certificates whatever NODE_TLS_REJECT_UNAUTHORIZED says", async () => {
  const url = fixture.receiver.url("/", "localhost");
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  expect(await run(script(makeStranger(), url), env)).toBe("tls");
});

test("request() ignores the proxies of the environment", async () => {
  const proxy = await startSilentPort();
  const names = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
  ];
  const env = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy.port}`]));
  const url = fixture.receiver.url("/", "localhost");
  expect(await run(script(fixture.authority.ca, url), env)).toBe("200");
  expect(proxy.connections).toBe(0);
  await proxy.close();
});
