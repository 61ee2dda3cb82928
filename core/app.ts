/**
 * The app: everything wired together, with nothing listening yet.
 *
 * @module
 */

import { auditPlugin } from "./audit/mod.ts";
import { type CallServices, callsPlugin } from "./call/mod.ts";
import { inAccount, inJob } from "./call/system.ts";
import type { Config } from "./config/mod.ts";
import {
  type Clock,
  open,
  readMeta,
  type Store,
  type StoreOptions,
  systemClock,
  writeMeta,
} from "./db/mod.ts";
import { createEgress } from "./egress/mod.ts";
import { createDocs } from "./http/docs.ts";
import { createHttp, createLimits, type Fetch, type Limits } from "./http/mod.ts";
import {
  apiKeysPlugin,
  type Authenticate,
  createAuthenticator,
  createLastUsed,
  identityPlugin,
} from "./identity/mod.ts";
import { createScheduler, jobsPlugin, type Scheduler } from "./jobs/mod.ts";
import { createLog, type Log } from "./log.ts";
import { createMcp } from "./mcp/mod.ts";
import { metricsPlugin } from "./metrics/endpoints.ts";
import { createMetrics, type Metrics } from "./metrics/mod.ts";
import { createDeliverer, createReactor, type Deliverer, outboxPlugin } from "./outbox/mod.ts";
import { createRegistry, type Registry } from "./plugin/registry.ts";
import type { Plugin } from "./plugin/types.ts";
import { createSecrets, mustFit, proofOf, secretKey } from "./secrets/mod.ts";
import { createWeb } from "./web/endpoints.ts";

/** The server, in parts. */
export interface App extends CallServices {
  readonly store: Store;
  readonly log: Log;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly authenticate: Authenticate;
  readonly deliverer: Deliverer;
  readonly scheduler: Scheduler;
  /** Answers a request. */
  readonly fetch: Fetch;
  /** Begins to deliver, to react and to run jobs. */
  start(): Promise<void>;
  /** Finishes what is under way and closes the database. */
  stop(): Promise<void>;
}

/** What an app is made of. */
export interface AppOptions {
  readonly config: Config;
  readonly plugins: readonly Plugin[];
  /** For tests. */
  readonly clock?: Clock;
  /** For tests: the guard. */
  readonly databasePlugins?: StoreOptions["plugins"];
}

const corePlugins = [
  outboxPlugin,
  callsPlugin,
  jobsPlugin,
  auditPlugin,
  identityPlugin,
  apiKeysPlugin,
  metricsPlugin,
];

const lastUsedEvery = 10_000;

/** Everything that is declared: core's own plugins first. */
export const declared = (plugins: readonly Plugin[]): Registry =>
  createRegistry([...corePlugins, ...plugins]);

/** The migrations of all plugins, in the order in which they are loaded. */
export const migrationsOf = ({ plugins }: Registry) =>
  plugins.map(({ name, migrations = {} }) => ({ plugin: name, migrations }));

/** Makes an app: checks the plugins, opens and migrates the database. */
export function createApp({
  config,
  plugins,
  clock = systemClock(),
  databasePlugins = [],
}: AppOptions): App {
  const registry = declared(plugins);
  const log = createLog(config.logLevel);
  const { dataDir } = config;
  const store = open({ dataDir, migrations: migrationsOf(registry), plugins: databasePlugins });
  const proof = readMeta(dataDir, "secret_proof");
  const secrets = createSecrets(secretKey(config.secretKey, dataDir, proof !== undefined));
  if (proof === undefined) writeMeta(dataDir, "secret_proof", proofOf(secrets));
  else mustFit(secrets, proof);
  const egress = createEgress({
    allow: config.egressAllow,
    ...(config.egressCa === undefined ? {} : { ca: config.egressCa }),
  });
  const lastUsed = createLastUsed(store, clock);
  const deliverer = createDeliverer({
    store,
    clock,
    secrets,
    egress,
    log,
    retrySeconds: config.retrySeconds,
  });

  const wake = (): void => {
    deliverer.wake();
    reactor.wake();
  };
  const services: CallServices = { config, registry, store, clock, secrets, egress, wake };
  const reactor = createReactor({ store, clock, registry, log, inAccount: inAccount(services) });
  const scheduler = createScheduler({
    store,
    clock,
    log,
    jobs: registry.jobs,
    inJob: inJob(services),
  });
  let flushing: ReturnType<typeof setInterval> | undefined;

  const app: App = {
    ...services,
    log,
    deliverer,
    scheduler,
    limits: createLimits(clock, config.rateTiers),
    metrics: createMetrics(),
    authenticate: createAuthenticator({ store, clock, baseUrl: config.baseUrl, lastUsed }),
    fetch: (request, peer) => http(request, peer),
    async start() {
      await deliverer.start();
      await scheduler.start();
      reactor.start();
      flushing = setInterval(
        () => void lastUsed.flush().catch((error: unknown) => log.error(error)),
        lastUsedEvery,
      );
    },
    async stop() {
      clearInterval(flushing);
      await scheduler.stop();
      await reactor.stop();
      await deliverer.stop();
      await lastUsed.flush();
      await store.close();
    },
  };
  const http: Fetch = createHttp(app, [...createMcp(app), ...createDocs(app), ...createWeb(app)]);
  return app;
}
