/**
 * Digests, in one place.
 *
 * @module
 */

/** SHA-256 in base64url, 43 characters. */
export function sha256(data: string | Uint8Array): string {
  return Bun.SHA256.hash(data, "base64url");
}

/** Lowercase hex HMAC-SHA256 of `bytes`, keyed with the UTF-8 bytes of `key`. */
export function hmacSha256(key: string, bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256", key).update(bytes).digest("hex");
}
