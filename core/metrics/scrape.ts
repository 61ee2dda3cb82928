/**
 * The metrics as Prometheus reads them. Loaded when it asks for the first time.
 *
 * The collectors that prom-client brings along read V8, which is not there under Bun: they answer with zeros. Those of
 * the process are our own, under the usual names.
 *
 * @module
 */

import { readdirSync } from "node:fs";

import { Counter, Gauge, type Metric, Registry } from "prom-client";

import type { App } from "../app.ts";
import { acrossAccounts, type Database } from "../db/mod.ts";
import { outboxTables } from "../outbox/tables.ts";
import { version } from "../version.ts";
import { bounds, type Metrics } from "./mod.ts";

/** The media type of the text. */
export const mediaType = Registry.PROMETHEUS_CONTENT_TYPE;

/** Makes the function that writes the text. */
export function createScrape({
  metrics,
  store,
  clock,
}: Pick<App, "metrics" | "store" | "clock">): () => Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, read: () => number): void =>
    void new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  const gauge = (name: string, help: string, read: () => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

  const labelNames = ["operation", "status"] as const;
  void new Counter({
    name: "innkeep_http_requests_total",
    help: "Answers by operation and status.",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [operation, { statuses }] of metrics.all) {
        for (const [status, count] of Object.entries(statuses))
          this.inc({ operation, status }, count);
      }
    },
  });
  registry.registerMetric(durations(metrics));

  counter(
    "innkeep_writer_commits_total",
    "Commits of the database's writer.",
    () => store.stats.commits,
  );
  counter("innkeep_writer_units_total", "Units of work in those commits.", () => store.stats.units);

  let waiting: Backlog = { deliveries: 0, reactions: 0, oldest_ms: 0 };
  gauge(
    "innkeep_outbox_deliveries_pending",
    "Deliveries that wait to be sent.",
    () => waiting.deliveries,
  );
  gauge(
    "innkeep_outbox_reactions_pending",
    "Reactions that wait to be run.",
    () => waiting.reactions,
  );
  gauge(
    "innkeep_outbox_oldest_due_seconds",
    "For how long the oldest due delivery has been due.",
    () => waiting.oldest_ms / 1000,
  );

  const cpu = (): NodeJS.CpuUsage => process.cpuUsage();
  counter(
    "process_cpu_user_seconds_total",
    "Processor time spent in the program.",
    () => cpu().user / 1e6,
  );
  counter(
    "process_cpu_system_seconds_total",
    "Processor time spent in the system.",
    () => cpu().system / 1e6,
  );
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge("process_heap_bytes", "Memory of the script engine.", () => process.memoryUsage().heapUsed);
  gauge("process_uptime_seconds", "For how long the process has run.", () => process.uptime());
  gauge(
    "process_open_fds",
    "Open files and connections; 0 where the system does not tell.",
    openFiles,
  );
  new Gauge({
    name: "innkeep_build_info",
    help: "1, with the version.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);

  return async () => {
    waiting = await store.read((db) => backlog(db, clock.ms()));
    return await registry.metrics();
  };
}

/** The histogram, out of what has been counted. */
function durations({ all }: Metrics): Metric {
  const name = "innkeep_http_request_duration_seconds";
  const read = async () => ({
    name,
    help: "Time to the answer's headers, by operation.",
    type: "histogram",
    values: [...all].flatMap(([operation, { durations, seconds }]) => {
      let count = 0;
      const buckets = durations.map((each, place) => {
        count += each;
        return {
          metricName: `${name}_bucket`,
          labels: { operation, le: bounds[place] ?? "+Inf" },
          value: count,
        };
      });
      // What was never asked for takes no room.
      if (count === 0) return [];
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { operation }, value: seconds },
        { metricName: `${name}_count`, labels: { operation }, value: count },
      ];
    }),
  });
  // prom-client asks a metric for nothing but its name and `get`; its own histogram counts for itself.
  return { name, get: read } as unknown as Metric;
}

interface Backlog {
  readonly deliveries: number;
  readonly reactions: number;
  readonly oldest_ms: number;
}

async function backlog(db: Database, now_ms: number): Promise<Backlog> {
  const outbox = outboxTables(acrossAccounts(db));
  const deliveries = await outbox
    .selectFrom("outbox_deliveries")
    .select(({ fn }) => [fn.countAll<number>().as("count"), fn.min("due_ms").as("due_ms")])
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
  const reactions = await outbox
    .selectFrom("outbox_reactions")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
  const oldest_ms = Math.max(0, now_ms - (deliveries.due_ms ?? now_ms));
  return { deliveries: deliveries.count, reactions: reactions.count, oldest_ms };
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
