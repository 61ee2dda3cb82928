/**
 * Secrets at rest: AES-256-GCM under one key, from `INNKEEP_SECRET_KEY` or from `secret.key` in the data directory.
 * What is encrypted here is worthless without it: back it up with the database.
 *
 * @module
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export { hmacSha256, sha256 } from "./digest.ts";

const proofContext = "key check";

/** What is kept in the database to know the key by. */
export const proofOf = (secrets: Secrets): string => secrets.encrypt("innkeep", proofContext);

/** Throws unless the key is the one that a proof was made with. */
export function mustFit(secrets: Secrets, proof: string): void {
  try {
    secrets.decrypt(proof, proofContext);
  } catch {
    throw new Error(
      "Cannot start: the secret key is not the one of this database. Restore secret.key (or INNKEEP_SECRET_KEY) that belongs to it",
    );
  }
}

/** Encrypts and decrypts. `context` names what it is and whose: a secret moved to another row no longer opens. */
export interface Secrets {
  encrypt(text: string, context: string): string;
  decrypt(box: string, context: string): string;
}

const version = "v1";

/** Makes the box of a key. */
export function createSecrets(key: Uint8Array): Secrets {
  return {
    encrypt(text, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([
        nonce,
        cipher.update(text, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${version}.${sealed.toString("base64url")}`;
    },
    decrypt(box, context) {
      const bytes = Buffer.from(box.slice(version.length + 1), "base64url");
      if (!box.startsWith(`${version}.`) || bytes.length < 28)
        throw new Error("Cannot decrypt: unknown form");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAAD(
        Buffer.from(context),
      );
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16)).toString("utf8") + decipher.final("utf8");
    },
  };
}

/**
 * The key from its text (`INNKEEP_SECRET_KEY`), or from `secret.key`, which the first start makes with mode 0600. A
 * database that knows a key already gets no new one: nothing in it could be opened.
 */
export function secretKey(given: string | undefined, dataDir: string, known = false): Uint8Array {
  const file = join(dataDir, "secret.key");
  if (given === undefined && known && !existsSync(file)) {
    throw new Error(
      `Cannot start: "${file}" is missing. Restore it from your backup, or set INNKEEP_SECRET_KEY`,
    );
  }
  if (given === undefined && !existsSync(file)) {
    // `wx`: of two processes that start together, one makes the key and the other reads it.
    try {
      writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, {
        mode: 0o600,
        flag: "wx",
      });
    } catch (error) {
      if (!existsSync(file)) throw error;
    }
  }
  const text = given ?? readFileSync(file, "utf8").trim();
  if (text.length < 32)
    throw new Error("The secret key is too short: it must have at least 32 characters");
  return new Uint8Array(hkdfSync("sha256", text, "", "innkeep secrets v1", 32));
}
