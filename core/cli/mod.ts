/**
 * The command line. Every command prints one JSON document on standard output and everything else on standard error,
 * so that scripts can read it. All of them work beside a running server.
 *
 * @module
 */

import { Command, CommanderError } from "commander";

import { declared, migrationsOf } from "../app.ts";
import { verifyChain } from "../audit/mod.ts";
import { noteDeed } from "../audit/note.ts";
import { plans } from "../call/mod.ts";
import { type Config, ConfigError, defaultTier, readConfig } from "../config/mod.ts";
import { migrateFile, ownDatabase } from "../db/mod.ts";
import { openapi } from "../http/openapi.ts";
import {
  findUser,
  insertAccount,
  insertKey,
  isScope,
  listAccounts,
  prepareAccount,
  setPlan,
} from "../identity/mod.ts";
import { Problem } from "../plugin/problem.ts";
import { RegistryError } from "../plugin/registry.ts";
import type { Plugin } from "../plugin/types.ts";
import { version } from "../version.ts";
import { callIn } from "./call.ts";
import { makeDemo } from "./demo.ts";
import { serve } from "./serve.ts";
import { chooseAccount, withApp } from "./with_app.ts";

/** What the command line works on. */
export interface CliOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plugins: readonly Plugin[];
}

/** Runs a command; answers the exit code. */
export async function cli({ args, env, plugins }: CliOptions): Promise<number> {
  try {
    await program(() => readConfig(env), plugins).parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (
      error instanceof Problem ||
      error instanceof ConfigError ||
      error instanceof RegistryError
    ) {
      console.error(error.message);
    } else {
      console.error(error instanceof Error ? error.message : String(error));
    }
    return 1;
  }
}

const print = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

function program(config: () => Config, plugins: readonly Plugin[]): Command {
  const root = new Command("innkeep")
    .description("A property-management server for short-term rentals.")
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({ writeOut: (text) => process.stderr.write(text) });

  root
    .command("serve", { isDefault: true })
    .description("start the server")
    .action(() => serve(config(), plugins));

  root
    .command("setup")
    .description("make an account and its owner")
    .requiredOption("--account <name>", "the account's name")
    .requiredOption("--email <address>", "the owner's e-mail address")
    .requiredOption("--password <password>", "the owner's password, 10 characters or more")
    .action(async (options: { account: string; email: string; password: string }) => {
      await withApp(config(), plugins, async ({ store, clock }) => {
        const wanted = { name: options.account, email: options.email, password: options.password };
        const known = await store.read((db) => findUser(db, wanted.email));
        const prepared = await prepareAccount(wanted, known);
        const made = await store.write(async (db) => {
          const ids = await insertAccount(db, prepared, clock.now());
          await noteDeed(db, clock, {
            surface: "cli",
            ...ids,
            operation: "identity.setup",
            input: { account: prepared.name },
          });
          return ids;
        });
        print(made);
      });
    });

  const keys = root.command("keys").description("API keys");
  keys
    .command("create")
    .description("make an API key; it is shown this once")
    .requiredOption("--label <label>", "what it is for")
    .requiredOption("--scopes <scopes>", 'scopes separated by commas, or "*" for all')
    .option("--tier <tier>", "its limit of requests per minute", defaultTier)
    .option("--account <id>", "whose key; needed where there are several accounts")
    .action(async (options: { label: string; scopes: string; tier: string; account?: string }) => {
      await withApp(
        config(),
        plugins,
        async ({ store, clock, registry, config: { rateTiers } }) => {
          const account_id = await chooseAccount(store, options.account);
          const scopes = options.scopes.split(",").map((scope) => scope.trim());
          const unknown = scopes.filter((scope) => !isScope(scope, registry.scopes));
          if (unknown.length > 0) {
            throw new Error(
              `Unknown scopes: ${unknown.join(", ")}. There are: *, ${registry.scopes.join(", ")}`,
            );
          }
          if (!Object.hasOwn(rateTiers, options.tier)) {
            throw new Error(
              `Unknown tier "${options.tier}". There are: ${Object.keys(rateTiers).join(", ")}`,
            );
          }
          const wanted = {
            account_id,
            label: options.label,
            scopes,
            listing_ids: null,
            tier: options.tier,
            expires_at: null,
          };
          const { row, key } = await store.write(async (db) => {
            const made = await insertKey(db, { ...wanted, created_by: "cli" }, clock.now());
            await noteDeed(db, clock, {
              surface: "cli",
              account_id,
              operation: "api_keys.create",
              input: wanted,
            });
            return made;
          });
          print({ id: row.id, key, account_id, label: row.label, scopes, tier: row.tier });
        },
      );
    });

  root
    .command("accounts")
    .description("list the accounts")
    .action(async () => {
      await withApp(config(), plugins, async ({ store }) =>
        print({ data: await store.read(listAccounts) }),
      );
    });

  root
    .command("plan <plan>")
    .description(`set an account's plan: ${plans.join(", ")}`)
    .option("--account <id>", "whose plan; needed where there are several accounts")
    .action(async (name: string, options: { account?: string }) => {
      const plan = plans.find((each) => each === name);
      if (plan === undefined)
        throw new Error(`Unknown plan "${name}". There are: ${plans.join(", ")}`);
      await withApp(config(), plugins, async ({ store, clock }) => {
        const account_id = await chooseAccount(store, options.account);
        await store.write(async (db) => {
          await setPlan(db, account_id, plan);
          await noteDeed(db, clock, {
            surface: "cli",
            account_id,
            operation: "identity.set_plan",
            input: { plan },
          });
        });
        print({ account_id, plan });
      });
    });

  root
    .command("call <operation>")
    .description("run any operation")
    .option("--json <input>", "its input, as a JSON object", "{}")
    .option("--account <id>", "in which account; needed where there are several")
    .option("--dry-run", "do everything, then take it back")
    .action(async (name: string, options: { json: string; account?: string; dryRun?: true }) => {
      await withApp(config(), plugins, async (app) => {
        const registered = app.registry.operations.get(name);
        if (registered === undefined) {
          throw new Error(
            `Unknown operation "${name}". There are:\n  ${[...app.registry.operations.keys()].join("\n  ")}`,
          );
        }
        const account_id = await chooseAccount(app.store, options.account);
        print(await callIn(app, account_id, registered, parseInput(options.json), options.dryRun));
      });
    });

  root
    .command("demo")
    .description("make a believable demo account; again, it changes nothing")
    .action(() => withApp(config(), plugins, async (app) => print(await makeDemo(app))));

  root
    .command("migrate")
    .description("bring the database up to date; the server does so by itself when it starts")
    .action(() => {
      const { dataDir } = config();
      // Refused beside a server, even where nothing is to do.
      ownDatabase(dataDir)();
      print({ migrated: migrateFile(dataDir, migrationsOf(declared(plugins))) });
    });

  root
    .command("openapi")
    .description("print the OpenAPI document")
    .action(() => print(openapi(declared(plugins), config().baseUrl)));

  root
    .command("audit")
    .description("the audit log")
    .command("verify")
    .description("walk the hash chain of every account; fails where one is broken")
    .action(async () => {
      await withApp(config(), plugins, async ({ store }) => {
        const accounts = await store.read(listAccounts);
        const reports = [];
        for (const { id } of accounts) reports.push(await store.read((db) => verifyChain(db, id)));
        print({ intact: reports.every(({ intact }) => intact), accounts: reports });
        if (reports.some(({ intact }) => !intact))
          throw new Error("The audit log was changed: see broken_at");
      });
    });

  root
    .command("version")
    .description("print the version")
    .action(() => print({ version, bun: Bun.version }));

  return root;
}

function parseInput(json: string): Record<string, unknown> {
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    throw new Error("--json must be a JSON object, in quotes");
  }
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw new Error("--json must be a JSON object");
  return input as Record<string, unknown>;
}
