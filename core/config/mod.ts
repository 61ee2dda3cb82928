/**
 * Configuration: the environment, read once, as one frozen object. All that is wrong with it is said at once.
 *
 * @module
 */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
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
    host: read("HOST", "127.0.0.1", parseHost),
    port,
    baseUrl: read("BASE_URL", `${scheme}://localhost:${port}`, parseBaseUrl),
    tls,
    trustedProxies: read("TRUSTED_PROXIES", [], parseCidrs),
    secretKey: read("SECRET_KEY", undefined, parseSecret),
    egressAllow: read("EGRESS_ALLOW", [], parseCidrs),
    egressCa: read("EGRESS_CA", undefined, parseCertificates),
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

const mostPerMinute = 1_000_000_000;

const defaultTiers = { anonymous: 60, free: 60, pro: 300, enterprise: 1200 };

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`"${text}" is no port (0 to 65535)`);
  return port;
}

function parseHost(text: string): string {
  const name = /^(?=.{1,253}$)[a-z0-9]([\w-]{0,62})(\.[a-z0-9]([\w-]{0,62}))*$/i;
  // Of digits only, it is an address that is not whole.
  if (isIP(text) > 0 || (name.test(text) && !/^[\d.]+$/.test(text))) return text;
  throw new Error(`"${text}" must be an address such as 0.0.0.0, or a host name, without a port`);
}

function parseBaseUrl(text: string): string {
  // First, and without the text: a password might be in it.
  if (text.includes("@")) throw new Error("must be without user name and password");
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new Error(`"${text}" is no http or https URL`);
  const url = new URL(text);
  if (url.pathname !== "/" || /[?#]/.test(text))
    throw new Error(`"${text}" must be without path, query and fragment`);
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
    const tls = { cert: parseCertificates(cert), key: parsePemFile(key) };
    mustBelong(tls, { cert, key });
    return tls;
  } catch (error) {
    faults.push(
      `INNKEEP_TLS_CERT or INNKEEP_TLS_KEY: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

/** Throws where a key cannot be used, or is another one than the certificate's; `files` is where they came from. */
function mustBelong(
  { cert, key }: { readonly cert: string; readonly key: string },
  files: { readonly cert: string; readonly key: string },
): void {
  const secret = attempt(
    () => createPrivateKey(key),
    `"${files.key}" holds no private key that can be read: it is damaged, or locked with a password`,
  );
  if (!new X509Certificate(cert).checkPrivateKey(secret))
    throw new Error(`the key in "${files.key}" is not that of the certificate in "${files.cert}"`);
}

/** What `work` answers; the faults of libraries become a sentence of ours. */
function attempt<T>(work: () => T, otherwise: string): T {
  try {
    return work();
  } catch {
    throw new Error(otherwise);
  }
}

function parseCidrs(text: string): string[] {
  return text.split(",").map((part) => {
    const cidr = part.trim();
    const full = cidr.includes("/") ? cidr : `${cidr}/${cidr.includes(":") ? 128 : 32}`;
    if (!isRange(full)) {
      throw new Error(
        `"${cidr}" is no address range such as 192.168.0.0/16 or fd00::/8: write the address in full`,
      );
    }
    return full;
  });
}

function isRange(cidr: string): boolean {
  const [address = ""] = cidr.split("/");
  // ipaddr.js takes 10.1 for 10.0.0.1. An IPv4 address in the clothes of an IPv6 one would match nothing.
  if (isIP(address) === 0 || address.includes("%") || !ipaddr.isValidCIDR(cidr)) return false;
  return isIPv4(address) || ipaddr.process(address).kind() === "ipv6";
}

function parseCertificates(file: string): string {
  const text = parsePemFile(file);
  const found = text.match(/-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[^]*?-----END \1-----/g) ?? [];
  if (found.length === 0) throw new Error(`"${file}" holds no certificate`);
  for (const [place, one] of found.entries()) {
    attempt(
      () => new X509Certificate(one),
      `certificate ${place + 1} of "${file}" is damaged: it cannot be read`,
    );
  }
  return text;
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
    // By its first letter no name is one that JavaScript has a meaning of its own for, such as __proto__.
    const [, name, limit] = /^\s*([a-z][a-z_]{0,39})\s*=\s*(\d{1,10})\s*$/.exec(part) ?? [];
    if (name === undefined || Number(limit) < 1 || Number(limit) > mostPerMinute) {
      throw new Error(
        `"${part.slice(0, 60)}" must look like pro=300: a name of small letters, and 1 to ${mostPerMinute} requests`,
      );
    }
    tiers[name] = Number(limit);
  }
  return tiers;
}

function parseLevel(text: string): string {
  if (!logLevels.includes(text))
    throw new Error(`"${text}" must be one of: ${logLevels.join(", ")}`);
  return text;
}
