import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { startReceiver } from "../tls.ts";
import { answered, type EgressFixture, failed, post, startFixture } from "./egress_fixture.ts";

let fixture: EgressFixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterEach(() => fixture.receiver.disconnect());
afterAll(() => fixture.close());

describe("request() puts on the wire", () => {
  test("the headers given and what HTTP needs, nothing else", async () => {
    const { receiver } = fixture;
    const answer = await answered(
      fixture.open(),
      receiver.url("/a//b%2f?x=1&y=%20", "hooks.test"),
      {
        headers: {
          "content-type": "application/json",
          "user-agent": "Service-Webhook/1.0",
          "X-Webhook-Event": "task.created",
          "accept-encoding": "gzip",
        },
        body: new Uint8Array([0, 255, 13, 10, 13, 10]),
      },
    );
    const hit = receiver.hits.at(-1);
    expect(answer).toMatchObject({ status: 200, address: "127.0.0.1", truncated: false });
    expect([hit?.method, hit?.target]).toEqual(["POST", "/a//b%2f?x=1&y=%20"]);
    expect(Object.fromEntries(hit?.headers ?? [])).toEqual({
      Accept: "*/*",
      "Accept-Encoding": "identity",
      Connection: "keep-alive",
      "Content-Length": "6",
      "Content-Type": "application/json",
      Host: `hooks.test:${receiver.port}`,
      "User-Agent": "Service-Webhook/1.0",
      "X-Webhook-Event": "task.created",
    });
    expect(hit?.headers.length).toBe(8);
    expect(hit?.body).toEqual(new Uint8Array([0, 255, 13, 10, 13, 10]));
    expect(hit?.server_name).toBe("hooks.test");
  });

  test("a neutral user agent where none is given, and no fragment", async () => {
    await answered(fixture.open(), fixture.receiver.url("/a?b#c", "hooks.test"), { method: "GET" });
    const hit = fixture.receiver.hits.at(-1);
    expect([hit?.method, hit?.target, hit?.header("user-agent")]).toEqual([
      "GET",
      "/a?b",
      "Innkeep",
    ]);
  });

  test("no server name where the URL is an address", async () => {
    await answered(fixture.open(), fixture.receiver.url("/"));
    const hit = fixture.receiver.hits.at(-1);
    expect(hit?.server_name).toBeNull();
    expect(hit?.header("host")).toBe(`127.0.0.1:${fixture.receiver.port}`);
  });

  test("the address itself where it is spelled as a mapped one", async () => {
    const url = fixture.receiver.url("/", "::ffff:127.0.0.1");
    expect((await answered(fixture.open(), url)).address).toBe("127.0.0.1");
  });

  test("an IPv6 address in brackets", async () => {
    const receiver = await startReceiver({ ...fixture.authority, host: "::1" });
    expect((await answered(fixture.open(), receiver.url("/"))).address).toBe("::1");
    expect(receiver.hits[0]?.header("host")).toBe(`[::1]:${receiver.port}`);
    await receiver.close();
  });

  test("nothing at all where a header or the method cannot be sent as given", async () => {
    const before = fixture.receiver.hits.length;
    const url = fixture.receiver.url("/", "hooks.test");
    const egress = fixture.open();
    for (const headers of [
      { Host: "other.test" },
      { "content-length": "5" },
      { "Transfer-Encoding": "chunked" },
      { connection: "close" },
      { "x-a": "b\r\nx-c: d" },
      { "x a": "b" },
      { "x-a": "€" },
    ] as Record<string, string>[]) {
      expect((await failed(egress, url, { headers })).reason).toBe("protocol");
    }
    for (const method of ["CONNECT", "TRACE", "post", "FOO", "GET / HTTP/1.1\r\nx:"]) {
      expect((await failed(egress, url, { method })).reason).toBe("protocol");
    }
    const body = new Uint8Array(1);
    expect((await failed(egress, url, { method: "GET", body })).reason).toBe("protocol");
    expect(fixture.receiver.hits.length).toBe(before);
  });
});

describe("request() uses connections", () => {
  test("again for the same name and address, and never across names", async () => {
    const { receiver } = fixture;
    const egress = fixture.open();
    const before = receiver.connections;
    for (const name of ["hooks.test", "hooks.test", "other.test", "hooks.test", "127.0.0.1"]) {
      await answered(egress, receiver.url("/", name));
    }
    const hits = receiver.hits.slice(-5);
    expect(hits.map((hit) => hit.connection - before)).toEqual([1, 1, 2, 1, 3]);
    expect(hits.map((hit) => hit.server_name)).toEqual([
      ...["hooks.test", "hooks.test", "other.test", "hooks.test", null],
    ]);
  });

  test("under the name without the dot at its end", async () => {
    await answered(fixture.open(), fixture.receiver.url("/", "hooks.test."));
    expect(fixture.receiver.hits.at(-1)?.server_name).toBe("hooks.test");
  });

  test.each(["POST", "GET"])(
    "and dials once more where a kept one turns out dead: %s",
    async (method) => {
      const { receiver } = fixture;
      receiver.answer("/stale", { body: "first" }, "reset", { body: "again" });
      const before = receiver.connections;
      const egress = fixture.open();
      await answered(egress, receiver.url("/stale", "hooks.test"), { method });
      const { body } = await answered(egress, receiver.url("/stale", "hooks.test"), { method });
      expect(new TextDecoder().decode(body)).toBe("again");
      expect(receiver.hits.slice(-3).map((hit) => hit.connection - before)).toEqual([1, 1, 2]);
    },
  );

  test("and dials once only where a fresh one is closed, or the second too", async () => {
    const { receiver } = fixture;
    const egress = fixture.open();
    receiver.answer("/fresh", "reset");
    const before = receiver.hits.length;
    expect((await failed(egress, receiver.url("/fresh", "hooks.test"))).reason).toBe("connection");
    expect(receiver.hits.length).toBe(before + 1);

    receiver.answer("/fresh", {}, "reset");
    await answered(egress, receiver.url("/fresh", "hooks.test"));
    expect((await failed(egress, receiver.url("/fresh", "hooks.test"))).reason).toBe("connection");
    expect(receiver.hits.length).toBe(before + 4);
  });

  test("of the next address where the first is refused", async () => {
    const resolve = async (): Promise<string[]> => ["127.0.0.9", "127.0.0.1"];
    const answer = await answered(
      fixture.open({ resolve }),
      fixture.receiver.url("/", "hooks.test"),
    );
    expect(answer.address).toBe("127.0.0.1");
  });

  test("of the address that was looked up, whatever connections are kept for the name", async () => {
    const { authority, receiver, open } = fixture;
    const leaf = authority.issue(["DNS:hooks.test"]);
    const second = await startReceiver({ ...leaf, host: "127.0.0.2", port: receiver.port });
    const looks = ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"];
    const egress = open({ resolve: async () => [looks.shift() ?? ""] });
    const before = [receiver.hits.length, receiver.connections] as const;
    for (const address of [...looks]) {
      expect((await answered(egress, receiver.url("/", "hooks.test"))).address).toBe(address);
    }
    expect([second.hits.length, second.connections]).toEqual([2, 1]);
    expect([receiver.hits.length - before[0], receiver.connections - before[1]]).toEqual([2, 1]);
    await second.close();
  });

  test("of no other address once a request has left", async () => {
    fixture.receiver.answer("/once", "reset");
    const resolve = async (): Promise<string[]> => ["127.0.0.1", "127.0.0.9", "127.0.0.1"];
    const url = fixture.receiver.url("/once", "hooks.test");
    const before = fixture.receiver.hits.length;
    expect(await failed(fixture.open({ resolve }), url)).toMatchObject({
      reason: "connection",
      address: "127.0.0.1",
    });
    expect(fixture.receiver.hits.length).toBe(before + 1);
  });
});

describe("request() holds all callers to `max`", () => {
  test("and starts the deadline only with the slot", async () => {
    const { receiver } = fixture;
    receiver.answer("/slot", "hang");
    const before = receiver.hits.length;
    const egress = fixture.open({ max: 2 });
    const url = receiver.url("/slot", "hooks.test");
    const all = [1, 2, 3, 4].map(() => failed(egress, url, { deadline_ms: 300 }));
    await receiver.waitFor(before + 2);
    await Bun.sleep(50);
    expect(receiver.hits.length).toBe(before + 2);
    expect((await Promise.all(all)).map((failure) => failure.reason).join()).toBe(
      "timeout,timeout,timeout,timeout",
    );
    expect(receiver.hits.length).toBe(before + 4);
  });

  test("and a wait that is aborted takes no slot with it", async () => {
    const { receiver } = fixture;
    receiver.answer("/slot", "hang");
    const egress = fixture.open({ max: 1 });
    const url = receiver.url("/slot", "hooks.test");
    const stop = new AbortController();
    const before = receiver.hits.length;
    const all = [1, 2, 3].map(() => failed(egress, url, { signal: stop.signal }));
    await receiver.waitFor(before + 1);
    stop.abort();
    expect((await Promise.all(all)).map((failure) => failure.reason).join()).toBe(
      "aborted,aborted,aborted",
    );
    expect(await failed(egress, url, { signal: stop.signal })).toMatchObject({ reason: "aborted" });
    expect(receiver.hits.length).toBe(before + 1);
    expect(await post(egress, receiver.url("/", "hooks.test"))).toMatchObject({ status: 200 });
  });
});
