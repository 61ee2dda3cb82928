import webhooks from "#plugins/webhooks";

import { fakeClock } from "../../core/db/mod.ts";
import { type Client, type Json, receive, type Received, serve, type Served } from "../fixture.ts";
import type { Hit } from "../tls.ts";
import { notesPlugin } from "./notes_plugin.ts";

/** A server with a clock that is moved by hand, a receiver, and somebody who makes notes. */
export interface Outbox extends AsyncDisposable {
  readonly server: Served;
  readonly received: Received;
  readonly clock: ReturnType<typeof fakeClock>;
  /** Makes notes; his own subscriptions would not hear of them. */
  readonly author: Client;
  /** Subscribes another credential to all events. */
  subscribe(path: string, body?: object): Promise<Json>;
  /** What came in of an event, at a path. */
  hits(path: string, event?: string): Hit[];
  /** The deliveries of notes to a subscription, the oldest first. */
  deliveries(subscription_id: string): Promise<Json[]>;
  /** Sends all that is due by the clock. */
  settle(): Promise<void>;
}

/** Starts both. */
export async function startOutbox(env: Readonly<Record<string, string>> = {}): Promise<Outbox> {
  const received = await receive();
  const clock = fakeClock(1_800_000_000_000);
  const plugins = [notesPlugin(), webhooks];
  const server = await serve({ plugins, clock, env: { ...received.env, ...env } });
  const { client: author } = await server.key();
  const { client: subscriber } = await server.key();
  const { receiver } = received;
  const settle = async (): Promise<void> => {
    server.app.wake();
    await server.app.deliverer.settled();
  };
  return {
    server,
    received,
    clock,
    author,
    settle,
    async subscribe(path, body = {}) {
      const made = await subscriber("POST", "/v1/webhooks", {
        url: receiver.url(path),
        events: ["*"],
        ...body,
      });
      if (made.status !== 201) throw new Error(made.text);
      await settle();
      return made.json;
    },
    hits: (path, event = "notes.noted") =>
      receiver.hits.filter((hit) => hit.target === path && hit.header("x-webhook-event") === event),
    async deliveries(subscription_id) {
      const events = await server.rows("outbox_events");
      const noted = new Set(
        events.filter(({ name }) => name === "notes.noted").map(({ id }) => id),
      );
      const rows = await server.rows("outbox_deliveries");
      return rows
        .filter((row) => row.subscription_id === subscription_id && noted.has(row.event_id))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await received[Symbol.asyncDispose]();
    },
  };
}
