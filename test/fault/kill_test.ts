/**
 * Killed under load, again and again: what was acknowledged is there and was delivered, and nothing is there by half.
 */

import { expect, test } from "bun:test";

import { temporaryDir, until } from "../fixture.ts";
import { type ServerProcess, startServer } from "../process.ts";
import type { Hit } from "../tls.ts";
import { makeHouse, numbersIn, reserve, rounds, say, tally } from "./fixture.ts";

const kills = rounds(5);
const clients = 16;

test(
  `a server that is killed ${kills} times under load loses nothing that it has acknowledged`,
  async () => {
    using temporary = temporaryDir();
    const house = await makeHouse(temporary.dir, "/hook");
    const { receiver } = house.received;
    const acknowledged = new Map<number, string>();
    let next = 0;
    let cut = 0;
    let replayed = 0;
    let running = true;
    let abandoned = false;
    let server: ServerProcess = await startServer(house.settings);
    await using _end = {
      async [Symbol.asyncDispose]() {
        abandoned = true;
        await server[Symbol.asyncDispose]();
        await house.received[Symbol.asyncDispose]();
      },
    };

    // Each client wants one stay after the other. Where it hears nothing it asks again, until it is told.
    const client = async (): Promise<void> => {
      while (running && !abandoned) {
        const number = next++;
        while (!abandoned) {
          const answer = await reserve(house, server, number).catch(() => undefined);
          const body = (await answer?.json().catch(() => undefined)) as { id: string } | undefined;
          if (answer === undefined || body === undefined) {
            cut++;
            await Bun.sleep(20);
            continue;
          }
          expect(answer.status).toBe(201);
          if (answer.headers.has("idempotent-replayed")) replayed++;
          acknowledged.set(number, body.id);
          break;
        }
      }
    };
    const working = Promise.all(Array.from({ length: clients }, client));
    let orphans = 0;
    for (let i = 0; i < kills; i++) {
      const goal = acknowledged.size + 200;
      expect(await until(() => acknowledged.size >= goal, 30_000)).toBe(true);
      // Somewhere in the middle of something.
      await Bun.sleep(Math.random() * 150);
      server.kill("SIGKILL");
      await server.exited;
      const left = house.autopsy((database) => ({
        integrity: database.pragma("integrity_check", { simple: true }),
        present: numbersIn(database),
        tally: tally(database),
        orphans: database.prepare("select id from outbox_deliveries where state = 'inflight'").all()
          .length,
      }));
      expect(left.integrity).toBe("ok");
      for (const number of acknowledged.keys())
        expect([number, left.present.has(number)]).toEqual([number, true]);
      const { reservations } = left.tally;
      // All of a call or nothing of it.
      expect(left.tally).toEqual({
        reservations,
        nights: reservations,
        events: reservations,
        deliveries: reservations,
        audits: reservations,
        answers: reservations,
      });
      orphans += left.orphans;
      server = await startServer(house.settings);
    }
    running = false;
    await working;

    const created = (): Hit[] =>
      receiver.hits.filter((hit) => hit.header("x-webhook-event") === "reservation.created");
    const delivered = (): Set<string> =>
      new Set(created().map(({ text }) => JSON.parse(text).data.id as string));
    const ids = [...acknowledged.values()];
    const settled = (): boolean =>
      house.look((database) =>
        database
          .prepare("select 1 from outbox_deliveries where state <> 'delivered' limit 1")
          .get(),
      ) === undefined;
    expect(await until(() => delivered().size >= ids.length && settled(), 60_000)).toBe(true);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);

    // Exactly once in the database, at least once at the receiver, and each copy the same.
    const there = house.look((database) => ({
      numbers: numbersIn(database),
      tally: tally(database),
    }));
    expect(there.numbers.size).toBe(acknowledged.size);
    expect(there.tally.reservations).toBe(acknowledged.size);
    const heard = delivered();
    for (const id of ids) expect(heard.has(id)).toBe(true);
    expect(heard.size).toBe(ids.length);
    const byDelivery = Map.groupBy(created(), (hit) => hit.header("x-webhook-delivery"));
    expect(byDelivery.size).toBe(ids.length);
    let duplicates = 0;
    for (const copies of byDelivery.values()) {
      duplicates += copies.length - 1;
      expect(new Set(copies.map(({ text }) => text)).size).toBe(1);
      expect(new Set(copies.map((hit) => hit.header("x-webhook-signature"))).size).toBe(1);
    }
    const figures = {
      kills,
      acknowledged: ids.length,
      delivered: heard.size,
      duplicates,
      orphans,
      cut,
      replayed,
    };
    say(
      Object.entries(figures)
        .map(([name, figure]) => `${name} ${figure}`)
        .join(", "),
    );
  },
  60_000 + kills * 20_000,
);
