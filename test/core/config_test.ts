/**
 * The environment, read once: defaults, forms, and all faults together.
 */

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { ConfigError, readConfig } from "../../core/config/mod.ts";
import { temporaryDir } from "../fixture.ts";
import { makeAuthority } from "../tls.ts";

const read = (env: Record<string, string>) =>
  readConfig(
    Object.fromEntries(Object.entries(env).map(([name, value]) => [`INNKEEP_${name}`, value])),
  );

test("without anything set, the defaults are those of the manual", () => {
  const config = read({});
  expect(config).toMatchObject({
    host: "127.0.0.1",
    port: 3000,
    baseUrl: "http://localhost:3000",
    tls: undefined,
    trustedProxies: [],
    secretKey: undefined,
    egressAllow: [],
    egressCa: undefined,
    retrySeconds: [5, 300, 1800, 7200, 18_000, 36_000, 50_400],
    rateTiers: { anonymous: 60, free: 60, pro: 300, enterprise: 1200 },
    logLevel: "info",
  });
  expect(config.dataDir).toBe(join(process.cwd(), "data"));
  expect(Object.isFrozen(config)).toBe(true);
  // An empty variable is one that is not set.
  expect(read({ PORT: "", BASE_URL: "  ", TRUSTED_PROXIES: "" })).toEqual(config);
});

test("what is set is taken in the forms that people write", () => {
  using temporary = temporaryDir();
  const { ca, cert, key } = makeAuthority();
  const files = { cert, key, ca };
  const path = (name: keyof typeof files): string => {
    const file = join(temporary.dir, `${name}.pem`);
    writeFileSync(file, files[name]);
    return file;
  };
  expect(
    read({
      PORT: " 8443 ",
      HOST: "0.0.0.0",
      TLS_CERT: path("cert"),
      TLS_KEY: path("key"),
      EGRESS_CA: path("ca"),
      EGRESS_ALLOW: "10.0.0.0/8, 192.168.1.7,fd00::/8,::1",
      TRUSTED_PROXIES: "127.0.0.1",
      WEBHOOK_RETRY_SECONDS: "0.5, 1,2",
      RATE_TIERS: "free=10, gold=5000",
      LOG_LEVEL: "silent",
    }),
  ).toMatchObject({
    port: 8443,
    host: "0.0.0.0",
    baseUrl: "https://localhost:8443",
    tls: { cert, key },
    egressCa: ca,
    egressAllow: ["10.0.0.0/8", "192.168.1.7/32", "fd00::/8", "::1/128"],
    trustedProxies: ["127.0.0.1/32"],
    retrySeconds: [0.5, 1, 2],
    rateTiers: { anonymous: 60, free: 10, pro: 300, enterprise: 1200, gold: 5000 },
    logLevel: "silent",
  });
  expect(read({ BASE_URL: "https://pms.example.com/" }).baseUrl).toBe("https://pms.example.com");
});

test("each fault is named with its variable, and secrets are not repeated", () => {
  const faults: [string, string][] = [
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["PORT", "80a"],
    ["PORT", "0x50"],
    ["PORT", "1e3"],
    ["BASE_URL", "pms.example.com"],
    ["BASE_URL", "https://x/path"],
    ["BASE_URL", "https://x/?q"],
    ["BASE_URL", "ftp://x"],
    ["BASE_URL", "https://x/#"],
    ["BASE_URL", "https://x/?"],
    ["BASE_URL", "https://ada:hunter2@x"],
    ["HOST", "127.0.0"],
    ["HOST", "300.1.1.1"],
    ["HOST", "localhost:3000"],
    ["HOST", "http://localhost"],
    ["HOST", "a b"],
    ["TRUSTED_PROXIES", "10.0.0.0/33"],
    ["TRUSTED_PROXIES", "proxy.local"],
    ["EGRESS_ALLOW", "10.0.0.0/8,,"],
    ["EGRESS_ALLOW", "10.1"],
    ["EGRESS_ALLOW", "10.1/16"],
    ["EGRESS_ALLOW", "::ffff:10.0.0.0/104"],
    ["TRUSTED_PROXIES", "10.1"],
    ["EGRESS_CA", "/nowhere.pem"],
    ["WEBHOOK_RETRY_SECONDS", "5,,300"],
    ["WEBHOOK_RETRY_SECONDS", "-5"],
    ["WEBHOOK_RETRY_SECONDS", "soon"],
    ["WEBHOOK_RETRY_SECONDS", Array(21).fill("1").join(",")],
    ["RATE_TIERS", "free"],
    ["RATE_TIERS", "free=0"],
    ["RATE_TIERS", "free=60;pro=1"],
    ["RATE_TIERS", `free=${"9".repeat(330)}`],
    ["RATE_TIERS", "free=1000000001"],
    ["RATE_TIERS", "__proto__=5"],
    ["LOG_LEVEL", "loud"],
    ["SECRET_KEY", "hunter2"],
    ["DATABASE_URL", "postgres://x"],
    ["TLS_CERT", "/nowhere.pem"],
    ["TLS_KEY", "/nowhere.pem"],
  ];
  for (const [name, value] of faults) {
    const refused = () => read({ [name]: value });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(`INNKEEP_${name}`);
    expect(refused).not.toThrow("hunter2");
  }
  const all = Object.fromEntries(faults);
  let message = "";
  try {
    read(all);
  } catch (error) {
    message = String(error);
  }
  for (const name of Object.keys(all)) expect(message).toContain(`INNKEEP_${name}`);
});

test("hosts are addresses and names, and a limit may be as large as it makes sense", () => {
  for (const host of ["0.0.0.0", "::", "::1", "localhost", "pms.example.com", "node_1"])
    expect(read({ HOST: host }).host).toBe(host);
  expect(read({ RATE_TIERS: "free=1000000000" }).rateTiers.free).toBe(1_000_000_000);
});

describe("a certificate or a key that cannot be used is told with its file", () => {
  const { ca, cert, key } = makeAuthority();
  const other = makeAuthority();
  const damaged = (pem: string) => pem.replace(/\n[^-]{8}/, "\n!!!!!!!!");
  const wrong: Record<string, [name: string, files: Record<string, string>]> = {
    "a damaged certificate": ["TLS_CERT", { TLS_CERT: damaged(cert), TLS_KEY: key }],
    "a damaged one behind a good one": ["TLS_CERT", { TLS_CERT: cert + damaged(ca), TLS_KEY: key }],
    "a damaged key": ["TLS_KEY", { TLS_CERT: cert, TLS_KEY: damaged(key) }],
    "the key of another certificate": ["TLS_KEY", { TLS_CERT: cert, TLS_KEY: other.key }],
    "a key in place of a certificate": ["TLS_CERT", { TLS_CERT: key, TLS_KEY: key }],
    "a damaged authority": ["EGRESS_CA", { EGRESS_CA: damaged(ca) }],
  };
  for (const [what, [name, files]] of Object.entries(wrong)) {
    test(what, () => {
      using temporary = temporaryDir();
      const env: Record<string, string> = {};
      for (const [variable, text] of Object.entries(files)) {
        env[variable] = join(temporary.dir, `${variable}.pem`);
        writeFileSync(env[variable], text);
      }
      const refused = () => read(env);
      expect(refused).toThrow(ConfigError);
      expect(refused).toThrow(`INNKEEP_${name}`);
      expect(refused).toThrow(env[name]);
      expect(refused).not.toThrow(/BAD_BASE64|error:|PEM routines/);
    });
  }
});
