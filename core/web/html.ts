/**
 * HTML out of templates: whatever is put in is escaped, unless it is HTML itself.
 *
 * @module
 */

/** A piece of HTML. */
export interface Html {
  readonly markup: string;
}

type Piece = Html | string | number | undefined | readonly Html[];

/** Writes HTML. Undefined leaves nothing behind. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { markup: String.raw({ raw: parts }, ...pieces.map(markupOf)) };
}

function markupOf(piece: Piece): string {
  if (piece === undefined) return "";
  if (typeof piece === "string" || typeof piece === "number") return Bun.escapeHTML(String(piece));
  return "markup" in piece ? piece.markup : piece.map(({ markup }) => markup).join("");
}
