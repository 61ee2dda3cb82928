/**
 * Secrets at rest: opened by their key, in their place, unchanged, or not at all.
 */

import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createSecrets, hmacSha256, secretKey, sha256 } from "../../core/secrets/mod.ts";
import { temporaryDir } from "../fixture.ts";

const key = "0123456789abcdef0123456789abcdef";
const other = "0123456789abcdef0123456789abcdeg";

test("a secret opens with its key and its context, and with no others", () => {
  const secrets = createSecrets(secretKey(key, "/nowhere"));
  for (const text of ["", "a", "whsec_é😀", "x".repeat(100_000)]) {
    const box = secrets.encrypt(text, "of row 1");
    expect(secrets.decrypt(box, "of row 1")).toBe(text);
    expect(() => secrets.decrypt(box, "of row 2")).toThrow();
    expect(() => createSecrets(secretKey(other, "/nowhere")).decrypt(box, "of row 1")).toThrow();
    if (text.length > 4) expect(box).not.toContain(text);
  }
});

test("the same secret is never the same box, and a box that was changed does not open", () => {
  const secrets = createSecrets(secretKey(key, "/nowhere"));
  const boxes = Array.from({ length: 50 }, () => secrets.encrypt("secret", "c"));
  expect(new Set(boxes).size).toBe(50);
  const box = boxes[0] as string;
  for (let place = 0; place < box.length; place++) {
    const changed = `${box.slice(0, place)}${box[place] === "A" ? "B" : "A"}${box.slice(place + 1)}`;
    // The last letter of base64 may stand for bits that are not there.
    if (
      Buffer.from(changed.slice(3), "base64url").equals(Buffer.from(box.slice(3), "base64url")) &&
      place > 2
    )
      continue;
    expect(() => secrets.decrypt(changed, "c")).toThrow();
  }
  for (const odd of ["", "v1.", "v1.AAAA", "secret", box.slice(0, -8), `${box}AAAA`]) {
    expect(() => secrets.decrypt(odd, "c")).toThrow();
  }
});

test("the key is made at the first start, for its owner only, and stays", () => {
  using temporary = temporaryDir();
  const { dir } = temporary;
  const first = secretKey(undefined, dir);
  const file = join(dir, "secret.key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toMatch(/^[A-Za-z0-9_-]{43}\n$/);
  expect(secretKey(undefined, dir)).toEqual(first);
  // The one that is given comes first, and leaves the file alone.
  expect(secretKey(key, dir)).not.toEqual(first);
  expect(secretKey(undefined, dir)).toEqual(first);
});

test("a key that is too short is refused", () => {
  using temporary = temporaryDir();
  expect(() => secretKey("short", temporary.dir)).toThrow("at least 32 characters");
  mkdirSync(join(temporary.dir, "data"));
  writeFileSync(join(temporary.dir, "data", "secret.key"), "short\n");
  expect(() => secretKey(undefined, join(temporary.dir, "data"))).toThrow("at least 32 characters");
});

test("digests are those of the standards", () => {
  expect(sha256("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  // RFC 4231, test case 2.
  expect(hmacSha256("Jefe", new TextEncoder().encode("what do ya want for nothing?"))).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});
