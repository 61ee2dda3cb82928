/**
 * Configuration: the environment, read once, as one frozen object. All that is wrong with it is said at once.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import ipaddr from "ipaddr.js";

/** What the operator has set. */
export interface Config {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly trustedProxies: readonly string[];
  readonly secretKey: string | undefined;
  readonly egressAllow: readonly string[];
  /** PEM text of further authorities. */
  readonly egressCa: string | undefined;
  readonly retrySeconds: readonly number[];
  /** Requests per minute by tier; `anonymous` is per address. */
  readonly rateTiers: Readonly<Record<string, number>>;
  readonly logLevel: string;
}

/** The tier of a new key. */
export const defaultTier = "enterprise";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Reads the environment. Throws one error that lists every fault. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const given = (name: string): string | undefined => {
    const value = env[`INNKEEP_${name}`]?.trim();
    return value === "" ? undefined : value;
  };
  const read = <T>(name: string, fallback: T, parse: (text: string) => T): T => {
    const text = given(name);
    if (text === undefined) return fallback;
    try {
      return parse(text);
    } catch (error) {
      faults.push(`INNKEEP_${name}: ${error instanceof Error ? error.message : String(error)}`);
      return fallback;
    }
  };

  const port = read("PORT", 3000, parsePort);
  const tls = readTls(given("TLS_CERT"), given("TLS_KEY"), faults);
  const scheme = tls === undefined ? "http" : "https";
  const postgres = given("DATABASE_URL");
  if (postgres !== undefined)
    faults.push("INNKEEP_DATABASE_URL: PostgreSQL is not supported by this version; unset it");

  const config: Config = {
    dataDir: resolve(given("DATA_DIR") ?? "./data"),
    host: given("HOST") ?? "127.0.0.1",
    port,
    baseUrl: read("BASE_URL", `${scheme}://localhost:${port}`, parseBaseUrl),
    tls,
    trustedProxies: read("TRUSTED_PROXIES", [], parseCidrs),
    secretKey: read("SECRET_KEY", undefined, parseSecret),
    egressAllow: read("EGRESS_ALLOW", [], parseCidrs),
    egressCa: read("EGRESS_CA", undefined, parsePemFile),
    retrySeconds: read(
      "WEBHOOK_RETRY_SECONDS",
      [5, 300, 1800, 7200, 18_000, 36_000, 50_400],
      parseSeconds,
    ),
    rateTiers: read("RATE_TIERS", defaultTiers, parseTiers),
    logLevel: read("LOG_LEVEL", "info", parseLevel),
  };
  if (faults.length > 0) {
    throw new ConfigError(
      `Cannot start: the environment is wrong\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
  }
  return Object.freeze(config);
}

/** The environment is wrong. */
export class ConfigError extends Error {}

const defaultTiers = { anonymous: 60, free: 60, pro: 300, enterprise: 1200 };

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`"${text}" is no port (0 to 65535)`);
  return port;
}

function parseBaseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(`"${text}" is no http or https URL`);
  const url = new URL(text);
  if (url.pathname !== "/" || url.search !== "")
    throw new Error(`"${text}" must be without path and query`);
  return url.origin;
}

function readTls(
  cert: string | undefined,
  key: string | undefined,
  faults: string[],
): Config["tls"] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    faults.push("INNKEEP_TLS_CERT and INNKEEP_TLS_KEY: set both or none");
    return undefined;
  }
  try {
    return { cert: parsePemFile(cert), key: parsePemFile(key) };
  } catch (error) {
    faults.push(
      `INNKEEP_TLS_CERT or INNKEEP_TLS_KEY: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

function parseCidrs(text: string): string[] {
  return text.split(",").map((part) => {
    const cidr = part.trim();
    const full = cidr.includes("/") ? cidr : `${cidr}/${cidr.includes(":") ? 128 : 32}`;
    if (!ipaddr.isValidCIDR(full))
      throw new Error(`"${cidr}" is no address range such as 192.168.0.0/16`);
    return full;
  });
}

function parsePemFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new Error(`cannot read the file "${file}"`);
  }
  if (!text.includes("-----BEGIN ")) throw new Error(`"${file}" is no PEM file`);
  return text;
}

// The value itself is a secret: it is not repeated in the error.
function parseSecret(text: string): string {
  if (text.length < 32) throw new Error("must have at least 32 characters");
  return text;
}

function parseSeconds(text: string): number[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > 20 || parts.some((part) => !/^\d{1,9}(\.\d{1,3})?$/.test(part))) {
    throw new Error(`"${text}" must be numbers of seconds, one for each of 20 retries at most`);
  }
  return parts.map(Number);
}

function parseTiers(text: string): Record<string, number> {
  const tiers: Record<string, number> = { ...defaultTiers };
  for (const part of text.split(",")) {
    const [, name, limit] = /^\s*([a-z_]+)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
    if (name === undefined || Number(limit) < 1)
      throw new Error(`"${part}" must look like pro=300`);
    tiers[name] = Number(limit);
  }
  return tiers;
}

function parseLevel(text: string): string {
  if (!logLevels.includes(text))
    throw new Error(`"${text}" must be one of: ${logLevels.join(", ")}`);
  return text;
}
