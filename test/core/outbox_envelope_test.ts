/**
 * The envelope: five fields in canonical bytes, made once, stored, sent and signed as they are.
 */

import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { defineEvent, t } from "#core";
import webhooks from "#plugins/webhooks";

import { envelopeBytes, wellFormed } from "../../core/outbox/envelope.ts";
import { newSecret } from "../../core/outbox/subscriptions.ts";
import { receive, serve, until } from "../fixture.ts";
import { notesPlugin } from "./notes_plugin.ts";

const happened = (properties: Parameters<typeof t.Object>[0]) =>
  defineEvent({
    name: "test.happened",
    summary: "It happened.",
    scope: null,
    listing: null,
    schema_version: 3,
    payload: t.Object(properties),
  });
const event = happened({});
const around = { id: "01J00000000000000000000000", event, created_at: "2027-01-15T08:00:00Z" };
const text = (data: Readonly<Record<string, unknown>>, of = event): string =>
  new TextDecoder().decode(envelopeBytes({ ...around, event: of, data }));
// The fields that a schema names may be written in another way than those that it does not.
const events = [event, happened({ z: t.Unknown(), v: t.Unknown(), a: t.Unknown() })];
/** The canonical text of a value, out of an envelope. */
const canonical = (value: unknown): string => {
  const start = '{"created_at":"2027-01-15T08:00:00Z","data":{"a":1,"v":';
  const end =
    ',"z":null},"event":"test.happened","id":"01J00000000000000000000000","schema_version":3}';
  const texts = events.map((each) => {
    const whole = text({ v: value, z: null, a: 1 }, each);
    expect([whole.slice(0, start.length), whole.slice(-end.length)]).toEqual([start, end]);
    return whole.slice(start.length, -end.length);
  });
  expect(new Set(texts).size).toBe(1);
  return texts[0] as string;
};

describe("canonical JSON (RFC 8785)", () => {
  test("orders keys by their UTF-16 units, at every depth", () => {
    const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
    const shuffled = Object.fromEntries(keys.map((key, i) => [key, i]));
    expect(canonical(shuffled)).toBe('{"\\r":1,"1":3,"\u0080":5,"ö":6,"€":0,"😀":4,"\ufb33":2}');
    expect(canonical({ b: [{ d: 1, c: 2 }], a: {}, B: null, "": [] })).toBe(
      '{"":[],"B":null,"a":{},"b":[{"c":2,"d":1}]}',
    );
    expect(canonical({ "10": 1, "9": 2, a: 3 })).toBe('{"10":1,"9":2,"a":3}');
  });

  test("writes numbers as ECMAScript does", () => {
    const numbers: [number, string][] = [
      [0, "0"],
      [-0, "0"],
      [1, "1"],
      [-1, "-1"],
      [4.5, "4.5"],
      [2e-3, "0.002"],
      [1e21, "1e+21"],
      [1e20, "100000000000000000000"],
      [1e30, "1e+30"],
      [1e-27, "1e-27"],
      [0.000001, "0.000001"],
      [1e-7, "1e-7"],
      [Number("333333333.33333329"), "333333333.3333333"],
      [5e-324, "5e-324"],
      [1.7976931348623157e308, "1.7976931348623157e+308"],
      [9007199254740992, "9007199254740992"],
      [295147905179352830000, "295147905179352830000"],
    ];
    for (const [number, written] of numbers)
      expect([number, canonical(number)]).toEqual([number, written]);
    for (const of of events) {
      for (const none of [Number.NaN, Infinity, [-Infinity]]) {
        expect(() => text({ v: none }, of)).toThrow();
      }
    }
  });

  test("escapes what it must and nothing else", () => {
    expect(canonical("\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/")).toBe(
      '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
    );
    expect(canonical("\b\t\n\f\r\u0000\u001f\u007f\u2028")).toBe(
      '"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u2028"',
    );
    expect(canonical("120.50")).toBe('"120.50"');
    expect(canonical([true, false, null])).toBe("[true,false,null]");
  });

  test("is UTF-8, and half of a surrogate pair is made whole before", () => {
    expect(envelopeBytes({ ...around, data: { v: "é😀" } })).toEqual(
      new TextEncoder().encode(text({ v: "é😀" })),
    );
    for (const of of events) expect(() => text({ v: "\ud800" }, of)).toThrow();
    const repaired: unknown = wellFormed({
      "\udc00k": ["a\ud800", { b: "\udfffc" }],
      n: 1,
      z: null,
    });
    expect(repaired).toEqual({ "\ufffdk": ["a\ufffd", { b: "\ufffdc" }], n: 1, z: null });
    expect(canonical(wellFormed("\ud83d"))).toBe('"\ufffd"');
  });

  test("has exactly five fields, and 1 as the version of a schema that says none", () => {
    expect(Object.keys(JSON.parse(text({})))).toEqual([
      "created_at",
      "data",
      "event",
      "id",
      "schema_version",
    ]);
    const { schema_version: _version, ...first } = event;
    const bytes = envelopeBytes({ ...around, event: first, data: {} });
    expect(JSON.parse(new TextDecoder().decode(bytes)).schema_version).toBe(1);
  });

  test("beyond 256 KiB is refused, loudly, and never cut", () => {
    expect(() => text({ v: "a".repeat(300_000) })).toThrow('"test.happened" 300130 bytes');
    expect(text({ v: "a".repeat(200_000) })).toContain("aaa");
  });
});

test("a signing secret is 32 random bytes with a prefix", () => {
  const secrets = Array.from({ length: 50 }, newSecret);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
  expect(new Set(secrets).size).toBe(50);
});

test("the bytes on the wire are the bytes that are stored and signed, with these headers and no others", async () => {
  await using received = await receive();
  const { receiver } = received;
  await using server = await serve({ plugins: [notesPlugin(), webhooks], env: received.env });
  const { client } = await server.key();
  const subscriber = await server.key();
  const made = await subscriber.client("POST", "/v1/webhooks", {
    url: receiver.url("/hook?a=1"),
    events: ["*"],
  });
  const { secret } = made.json;
  const words = 'é 😀 \\ud800 "\\\\" \\u2028 </script> 1e21 \\t';
  await client("POST", "/v1/notes", `{"text":"${words.replaceAll('"', '\\"')}"}`);
  const noted = await until(() =>
    receiver.hits.find((hit) => hit.header("x-webhook-event") === "notes.noted"),
  );
  if (noted === undefined) throw new Error("Nothing was delivered");
  await server.app.deliverer.settled();

  const rows = await server.rows("outbox_events");
  const stored = rows.find(({ name }) => name === "notes.noted");
  expect(new Uint8Array(stored.body)).toEqual(noted.body);
  expect(noted.text).toContain("\ufffd");
  const [delivery] = (await server.rows("outbox_deliveries")).filter(
    ({ event_id }) => event_id === stored.id,
  );
  const body = JSON.parse(noted.text);
  expect(body).toMatchObject({ id: stored.id, event: "notes.noted", schema_version: 1 });
  expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

  const signature = `sha256=${createHmac("sha256", secret).update(noted.body).digest("hex")}`;
  const headers = Object.fromEntries(
    noted.headers.map(([name, value]) => [name.toLowerCase(), value]),
  );
  expect(headers).toEqual({
    "content-type": "application/json",
    "user-agent": "Service-Webhook/1.0",
    "x-webhook-event": "notes.noted",
    "x-webhook-delivery": delivery.id,
    "x-webhook-attempt": "1",
    "x-webhook-signature": signature,
    host: `127.0.0.1:${receiver.port}`,
    "content-length": String(noted.body.length),
    // What HTTP itself has to say.
    connection: "keep-alive",
    accept: "*/*",
    "accept-encoding": "identity",
  });
  expect(noted.headers).toHaveLength(Object.keys(headers).length);
  expect([noted.method, noted.target]).toEqual(["POST", "/hook?a=1"]);
  expect(delivery.id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);

  // Somebody else's tool comes to the same result, with the whole secret as the key.
  if (Bun.which("openssl") !== null) {
    const openssl = Bun.spawnSync(["openssl", "dgst", "-sha256", "-hmac", secret, "-r"], {
      stdin: noted.body,
    });
    expect(`sha256=${openssl.stdout.toString().split(" ")[0]}`).toBe(
      headers["x-webhook-signature"] as string,
    );
  }
  expect(signature).toMatch(/^sha256=[0-9a-f]{64}$/);

  // At rest the secret is a sealed box, and no answer repeats it.
  for (const table of [
    "outbox_secrets",
    "outbox_subscriptions",
    "audit_entries",
    "calls_answers",
  ]) {
    expect(JSON.stringify(await server.rows(table))).not.toContain(secret);
  }
  expect((await subscriber.client("GET", `/v1/webhooks/${made.json.id}`)).text).not.toContain(
    secret,
  );
});
