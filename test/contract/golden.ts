/**
 * Golden files: the surface as it was when it was last looked at.
 *
 * @module
 */

import { join } from "node:path";

import type { Json } from "../fixture.ts";

const folder = join(import.meta.dir, "../golden");

/** Is the surface to be written down anew? */
const updating = process.env.UPDATE_GOLDEN === "1";

/** How to go on where a golden file differs. */
export const howToUpdate =
  "the surface has changed: look at the difference, then write it down with UPDATE_GOLDEN=1 bun test contract";

/** What was written down; nothing where nothing was. */
export async function golden(name: string): Promise<Json> {
  const file = Bun.file(join(folder, name));
  return (await file.exists()) ? await file.json() : undefined;
}

/** Compares with what was written down, or writes it down. Answers the first lines that differ. */
export async function differences(name: string, value: unknown): Promise<string[]> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const file = Bun.file(join(folder, name));
  if (updating) await Bun.write(file, text);
  const old = (await file.exists()) ? await file.text() : "";
  if (old === text) return [];
  const [before, after] = [old.split("\n"), text.split("\n")];
  const first = after.findIndex((line, n) => line !== before[n]);
  const from = Math.max(0, first);
  return [
    `${name}, line ${from + 1}`,
    ...before.slice(from, from + 5).map((line) => `- ${line}`),
    ...after.slice(from, from + 5).map((line) => `+ ${line}`),
  ];
}

/** What a reader of the old payload would miss in the new one: lost fields, and fields of another type. */
export function shrinkage(before: Json, after: Json, path = ""): string[] {
  if (after === undefined) return [`${path} is gone`];
  const faults: string[] = [];
  if (typeOf(before) !== typeOf(after))
    faults.push(`${path}: ${typeOf(before)} became ${typeOf(after)}`);
  const required: string[] = after.required ?? [];
  for (const [name, field] of Object.entries(before.properties ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    if (before.required?.includes(name) && !required.includes(name))
      faults.push(`${at} may be missing`);
    faults.push(...shrinkage(field, after.properties?.[name], at));
  }
  if (before.items !== undefined) faults.push(...shrinkage(before.items, after.items, `${path}[]`));
  const variants: Json[] = before.anyOf ?? [];
  variants.forEach((one, n) => faults.push(...shrinkage(one, after.anyOf?.[n], path)));
  return faults;
}

const typeOf = ({ type, format, anyOf }: Json): string =>
  anyOf === undefined
    ? `${type ?? "anything"}${format === undefined ? "" : ` (${format})`}`
    : "one of several";
