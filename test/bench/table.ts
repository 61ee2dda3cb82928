/**
 * Tables as text.
 *
 * @module
 */

/** The middle of some values; of an even number the lower one of the two in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? Number.NaN;
}

/** A number with so many decimals; "-" where there is none. */
export const fixed = (value: number | null | undefined, digits = 0): string =>
  value === null || value === undefined || Number.isNaN(value) ? "-" : value.toFixed(digits);

/** Rows under their heads; the first column is text, the others are numbers and end flush. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, place) =>
    Math.max(head.length, ...rows.map((row) => row[place]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, place) =>
        place < 2 ? cell.padEnd(widths[place] ?? 0) : cell.padStart(widths[place] ?? 0),
      )
      .join("  ");
  return [line(heads), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join(
    "\n",
  );
}
