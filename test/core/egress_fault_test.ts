import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { connect, type Socket } from "node:net";

import { type Answer, startSilentPort } from "../tls.ts";
import { answered, type EgressFixture, failed, SECRET, startFixture } from "./egress_fixture.ts";

let fixture: EgressFixture;
let url: string;
beforeAll(async () => {
  fixture = await startFixture();
  url = fixture.receiver.url(`/${SECRET}`, "hooks.test");
});
afterEach(() => fixture.receiver.disconnect());
afterAll(() => fixture.close());

const script = (...answers: readonly Answer[]): void =>
  fixture.receiver.answer(`/${SECRET}`, ...answers);
const KIB = new Uint8Array(1024).fill(97);
function* chunks(count: number): Iterable<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield KIB;
}

/** Waits until the receiver has no connection left: what is cut short must be closed, not abandoned. */
async function expectAllClosed(): Promise<void> {
  for (let tries = 0; fixture.receiver.open > 0 && tries < 200; tries += 1) await Bun.sleep(10);
  expect(fixture.receiver.open).toBe(0);
}

describe("request() ends at the deadline", () => {
  const SHORT = { deadline_ms: 150 };

  test("where the name hangs", async () => {
    const egress = fixture.open({ resolve: () => new Promise(() => {}) });
    expect(await failed(egress, url, SHORT)).toMatchObject({ reason: "timeout", address: null });
  });

  test("where the connection hangs", async () => {
    const { port, close } = await startFullPort();
    const failure = await failed(fixture.open(), `https://hooks.test:${port}/${SECRET}`, SHORT);
    expect(failure).toMatchObject({ reason: "timeout", address: "127.0.0.1" });
    await close();
  });

  test("where the TLS handshake hangs", async () => {
    const silent = await startSilentPort();
    const failure = await failed(
      fixture.open(),
      `https://hooks.test:${silent.port}/${SECRET}`,
      SHORT,
    );
    expect(failure).toMatchObject({ reason: "timeout", address: "127.0.0.1" });
    expect(silent.connections).toBe(1);
    await silent.close();
  });

  test("where the headers hang, and closes the connection", async () => {
    script("hang");
    const failure = await failed(fixture.open(), url, SHORT);
    expect(failure.reason).toBe("timeout");
    expect(failure.message).toContain("150 ms");
    expect(failure.duration_ms).toBeWithin(140, 2000);
    await expectAllClosed();
  });

  test("where interim answers never end", async () => {
    script({ raw: "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000) });
    expect((await failed(fixture.open(), url, SHORT)).reason).toBe("timeout");
    await expectAllClosed();
  });

  test("but keeps a status that came before it, and as much of the body", async () => {
    script({ raw: "HTTP/1.1 202 Accepted\r\ncontent-length: 20\r\n\r\nhello" });
    const answer = await answered(fixture.open(), url, SHORT);
    expect(answer).toMatchObject({ status: 202, truncated: true });
    expect(new TextDecoder().decode(answer.body)).toBe("hello");
    await expectAllClosed();
  });

  test("and leaves nothing behind on a signal that lives on", async () => {
    const { signal } = new AbortController();
    const egress = fixture.open({ max: 1 });
    script({ body: "ok" });
    const all = [1, 2, 3].map(() => answered(egress, url, { signal }));
    const name = `https://nowhere.test:${fixture.receiver.port}/`;
    await Promise.all([...all, failed(egress, name, { signal, ...SHORT })]);
    expect(getEventListeners(signal, "abort").length).toBe(0);
  });

  test("or as soon as it is aborted, before and after the status", async () => {
    const shortly = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(50) });
    script("hang");
    expect((await failed(fixture.open(), url, shortly())).reason).toBe("aborted");
    script({ raw: "HTTP/1.1 202 Accepted\r\ncontent-length: 20\r\n\r\nhello" });
    expect(await answered(fixture.open(), url, shortly())).toMatchObject({
      status: 202,
      truncated: true,
    });
    await expectAllClosed();
  });
});

describe("request() resolves names", () => {
  test("with the system's resolver where no other is given", async () => {
    const egress = fixture.open({ resolve: undefined as never });
    const answer = await answered(egress, fixture.receiver.url("/", "localhost"));
    expect(answer.status).toBe(200);
  });

  test("and says where one does not exist, has no address or cannot be looked up", async () => {
    const failures: (() => Promise<readonly string[]>)[] = [
      () => Promise.reject(Object.assign(new Error(SECRET), { code: "DNS_ENOTFOUND" })),
      () => Promise.reject(new Error(SECRET)),
      () => {
        throw new Error(SECRET);
      },
      async () => [],
    ];
    for (const resolve of failures) {
      expect(await failed(fixture.open({ resolve }), url)).toMatchObject({
        reason: "name_not_resolved",
        address: null,
      });
    }
  });

  test("and gives up after two seconds, however long the deadline", async () => {
    const egress = fixture.open({ resolve: () => new Promise(() => {}) });
    const failure = await failed(egress, url, { deadline_ms: 60_000 });
    expect(failure.reason).toBe("name_not_resolved");
  });
});

describe("request() survives", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect (%i), which it does not follow",
    async (status) => {
      const canary = await startSilentPort();
      script({ status, headers: { location: `https://127.0.0.1:${canary.port}/` } });
      const answer = await answered(fixture.open(), url);
      expect(answer.status).toBe(status);
      expect(answer.headers["location"]).toContain(String(canary.port));
      expect(canary.connections).toBe(0);
      await canary.close();
    },
  );

  test("a body without end", async () => {
    script({ body: chunks(Number.POSITIVE_INFINITY) });
    const answer = await answered(fixture.open(), url);
    expect([answer.status, answer.truncated, answer.body.length]).toEqual([200, true, 16 * 1024]);
    await expectAllClosed();
  });

  test("a body of 100 MB, of which it takes what is asked for and little more", async () => {
    const before = fixture.receiver.sent;
    script({ headers: { "content-length": String(100_000 * 1024) }, body: chunks(100_000) });
    const answer = await answered(fixture.open(), url, { max_bytes: 1000 });
    expect([answer.truncated, answer.body.length]).toEqual([true, 1000]);
    expect([Buffer.isBuffer(answer.body), answer.body.buffer.byteLength]).toEqual([false, 1000]);
    await expectAllClosed();
    expect(fixture.receiver.sent - before).toBeLessThan(20 * 1024 * 1024);
  });

  test("a gzip bomb, which it leaves packed", async () => {
    const body = Bun.gzipSync(new Uint8Array(10_000_000));
    script({ headers: { "content-encoding": "gzip" }, body });
    const answer = await answered(fixture.open(), url);
    expect([answer.truncated, answer.body]).toEqual([false, new Uint8Array(body)]);
  });

  test("a body that ends too early", async () => {
    script({ raw: "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhello", close: true });
    const answer = await answered(fixture.open(), url);
    // What came with the end is lost in Bun; the status is what counts.
    expect([answer.status, answer.truncated]).toEqual([200, true]);
  });

  test("large headers, of which it keeps a part", async () => {
    script({ headers: { "x-small": "1", "x-large": "a".repeat(100_000) }, body: "ok" });
    const { headers, body } = await answered(fixture.open(), url);
    expect(JSON.stringify(headers).length).toBeLessThan(20_000);
    expect(headers["x-small"]).toBe("1");
    expect(new TextDecoder().decode(body)).toBe("ok");
  });

  test.each([
    ["what is no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["a switch of protocol", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["a status above 599", "HTTP/1.1 600 What\r\ncontent-length: 0\r\n\r\n"],
    ["a status below 100", "HTTP/1.1 099 What\r\ncontent-length: 0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(20_000)}`],
    ["a header without end", `HTTP/1.1 200 OK\r\nx-a: ${"b".repeat(20_000_000)}`],
  ])("%s", async (_, raw) => {
    script({ raw });
    expect(await failed(fixture.open(), url)).toMatchObject({
      reason: "protocol",
      address: "127.0.0.1",
    });
  });

  test("a wrong status with a body without end, whose connection it closes", async () => {
    script({ status: 999, body: chunks(Number.POSITIVE_INFINITY) });
    expect((await failed(fixture.open(), url)).message).toContain("999");
    await expectAllClosed();
  });

  test("a connection that is closed without an answer, or refused", async () => {
    script("reset");
    expect((await failed(fixture.open(), url)).reason).toBe("connection");
    const closed = await startSilentPort();
    await closed.close();
    const refused = await failed(fixture.open(), `https://hooks.test:${closed.port}/${SECRET}`);
    expect(refused).toMatchObject({ reason: "connection", address: "127.0.0.1" });
    expect(refused.message).toContain("refused");
  });
});

describe("request() reads", () => {
  test("a body of just the size that is kept without calling it truncated", async () => {
    script({ body: KIB });
    const exact = await answered(fixture.open(), url, { max_bytes: 1024 });
    expect([exact.truncated, exact.body]).toEqual([false, KIB]);
    const less = await answered(fixture.open(), url, { max_bytes: 1023 });
    expect([less.truncated, less.body.length]).toEqual([true, 1023]);
    const none = await answered(fixture.open(), url, { max_bytes: 0 });
    expect([none.truncated, none.body.length]).toEqual([true, 0]);
  });

  test("answers that have no body", async () => {
    for (const status of [204, 304]) {
      script({ status });
      const answer = await answered(fixture.open(), url);
      expect([answer.status, answer.truncated, answer.body.length]).toEqual([status, false, 0]);
    }
    script({ raw: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n" });
    const head = await answered(fixture.open(), url, { method: "HEAD" });
    expect([head.truncated, head.body.length]).toEqual([false, 0]);
  });

  test("repeated headers as one", async () => {
    script({
      raw: "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie: b\r\ncontent-length: 0\r\n\r\n",
    });
    expect((await answered(fixture.open(), url)).headers["set-cookie"]).toBe("a, b");
  });
});

/** A port whose queue of waiting connections is full, so that the system answers no further one. */
async function startFullPort(): Promise<{ port: number; close(): Promise<void> }> {
  const listener = `
    const server = require("node:net").createServer().listen(0, "127.0.0.1", () => console.log(server.address().port));
  `;
  const child = Bun.spawn([process.execPath, "-e", listener], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  child.kill("SIGSTOP");
  const sockets: Socket[] = [];
  let taken = true;
  while (taken && sockets.length < 5000) {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket.on("error", () => {}));
    const connected = new Promise<boolean>((resolve) =>
      socket.once("connect", () => resolve(true)),
    );
    taken = await Promise.race([connected, Bun.sleep(100).then(() => false)]);
  }
  expect(taken).toBe(false);
  return {
    port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
