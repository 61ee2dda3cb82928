/**
 * Confirmation codes: what people say on the telephone.
 *
 * @module
 */

// Without letters and digits that are taken for each other: 31^8 codes.
const letters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/** A new confirmation code. */
export function newCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let code = "";
  for (const byte of bytes) {
    // What would make some letters likelier than others is thrown away.
    if (byte < letters.length * 8 && code.length < 8) code += letters[byte % letters.length];
  }
  return code.length === 8 ? code : newCode();
}
