/**
 * Passwords: argon2id with the parameters of OWASP's minimum (19 MiB, two passes).
 *
 * @module
 */

/** The hash to store. Takes some twenty milliseconds, on purpose: never inside a unit. */
export async function hashPassword(password: string): Promise<string> {
  return await Bun.password.hash(password, {
    algorithm: "argon2id",
    memoryCost: 19_456,
    timeCost: 2,
  });
}

/** Does the password fit the hash? */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return await Bun.password.verify(password, hash);
}
