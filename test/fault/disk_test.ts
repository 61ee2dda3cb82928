/**
 * A full disk: refused in the usual shape, nothing by half, and all well again once there is room, without a restart.
 */

import { expect, test } from "bun:test";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { temporaryDir, until } from "../fixture.ts";
import { startServer } from "../process.ts";
import { makeHouse, numbersIn, reserve, rounds, say, tally } from "./fixture.ts";

/** A disk of some megabytes in memory; undefined where this process may not mount one. */
function smallDisk(at: string, megabytes: number): Disposable | undefined {
  mkdirSync(at, { recursive: true });
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", at]);
  if (!mounted.success) {
    say(`left out, for no disk can be mounted here: ${mounted.stderr.toString().trim()}`);
    return undefined;
  }
  return { [Symbol.dispose]: () => void Bun.spawnSync(["umount", "-l", at]) };
}

/** Writes until so many bytes are left. */
function fill(dir: string, leave: number): void {
  const { bavail, bsize } = statfsSync(dir);
  writeFileSync(join(dir, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - leave)));
}

test("a server whose disk is full refuses what it cannot keep, and goes on once there is room", async () => {
  using temporary = temporaryDir();
  const dir = join(temporary.dir, "disk");
  // The log alone may take 40.
  using disk = smallDisk(dir, 96);
  if (disk === undefined) return;
  const house = await makeHouse(dir, "/hook");
  await using received = house.received;
  const { receiver } = received;
  await using server = await startServer(house.settings);
  const made = new Set<number>();
  let next = 0;
  let refused = 0;

  /** Asks for a stay; answers the status. */
  const ask = async (): Promise<number> => {
    const number = next++;
    const answer = await reserve(house, server, number);
    const text = await answer.text();
    if (answer.status === 201) made.add(number);
    if (answer.status === 201) return 201;
    refused++;
    expect(answer.status).toBe(503);
    expect(JSON.parse(text).error).toMatchObject({ code: "maintenance", status: 503 });
    expect(JSON.parse(text).error.request_id).toBe(answer.headers.get("x-request-id") as string);
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(text).not.toContain("SQLITE");
    return 503;
  };
  const expectWhole = (): void => {
    const { numbers, counts } = house.look((database) => ({
      numbers: numbersIn(database),
      counts: tally(database),
    }));
    expect([...numbers].sort((a, b) => a - b)).toEqual([...made].sort((a, b) => a - b));
    const each = made.size;
    expect(counts).toEqual({
      reservations: each,
      nights: each,
      events: each,
      deliveries: each,
      audits: each,
      answers: each,
    });
  };

  for (let round = 0; round < rounds(2); round++) {
    for (let i = 0; i < 20; i++) expect(await ask()).toBe(201);
    // Some are under way to the receiver while the room runs out: what comes of them must not be lost either.
    receiver.answer("/hook", { status: 200, delay_ms: 300 });
    fill(dir, 64 * 1024);
    const before = refused;
    // What the log has room for already is still taken.
    for (let i = 0; i < 600 && refused < before + 20; i++)
      await Promise.all(Array.from({ length: 8 }, ask));
    expect(refused).toBeGreaterThanOrEqual(before + 20);
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    expect(await until(async () => (await ready()) === 503, 3000)).toBe(true);
    // Reading goes on.
    const headers = { "x-api-key": house.key };
    expect((await fetch(`${server.url}/v1/reservations?limit=1`, { headers })).status).toBe(200);
    await Bun.sleep(800);
    expectWhole();
    rmSync(join(dir, "filler"));
    receiver.answer("/hook", { status: 200 });
    expect(await until(async () => (await ask()) === 201, 10_000)).toBe(true);
    expect(await until(async () => (await ready()) === 200, 3000)).toBe(true);
    expectWhole();
  }

  const open = () =>
    house.look((database) =>
      database
        .prepare(
          "select state, count(*) as n from outbox_deliveries where state <> 'delivered' group by state",
        )
        .all(),
    );
  expect(await until(() => open().length === 0, 30_000)).toBe(true);
  const heard = new Set(
    receiver.hits
      .filter((hit) => hit.header("x-webhook-event") === "reservation.created")
      .map(({ text }) => JSON.parse(text).data.external_id as string),
  );
  expect(heard.size).toBe(made.size);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(house.look((database) => database.pragma("integrity_check", { simple: true }))).toBe("ok");
  say(`made ${made.size}, refused ${refused}, delivered ${heard.size}`);
}, 180_000);
