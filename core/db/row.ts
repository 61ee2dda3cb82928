/**
 * Rows: how a record of a schema lies in a table of the same columns. Lists and objects are JSON text, yes and no are
 * 1 and 0, amounts are integers of the currency's minor unit. One name from the column to the wire.
 *
 * @module
 */

import { invalid } from "../plugin/problem.ts";
import { inner, isMoney, type Static, type TObject, type TSchema } from "../plugin/schema.ts";

/** A record as its table has it. Amounts are integers there, whatever their type says here. */
export type Row<T> = {
  [K in keyof T]-?: NonNullable<T[K]> extends boolean
    ? number | Extract<T[K], null>
    : NonNullable<T[K]> extends string | number
      ? Exclude<T[K], undefined>
      : string | Extract<T[K], null>;
};

/** Turns records into rows and back. */
export interface Codec<T> {
  /** Of a part of a record; amounts need the currency, which may stand in the part itself. */
  encode<P extends Partial<T>>(part: P, currency?: string): Row<P>;
  /** In place: the row becomes the record. */
  decode(row: Row<T>): T;
}

/** The minor digits of a currency (ISO 4217): 2 of EUR, 0 of JPY, 3 of KWD. */
export function minorDigits(currency: string): number {
  let digits = minor.get(currency);
  if (digits === undefined) {
    const format = new Intl.NumberFormat("en", { style: "currency", currency });
    digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    minor.set(currency, digits);
  }
  return digits;
}

const minor = new Map<string, number>();

/** `"120.5"` EUR → 12050. Throws where the currency has no such digits, or where it could not be kept exactly. */
export function toMinor(amount: string, currency: string, field = "amount"): number {
  const digits = minorDigits(currency);
  const [whole = "0", fraction = ""] = amount.replace("-", "").split(".");
  const kept = fraction.slice(0, digits).padEnd(digits, "0");
  if (/[1-9]/.test(fraction.slice(digits))) {
    throw invalid(
      field,
      "invalid_format",
      `"${field}" has more decimals than ${currency} has (${digits})`,
    );
  }
  const value = Number(whole + kept);
  if (!Number.isSafeInteger(value))
    throw invalid(field, "too_large", `"${field}" is too large to be kept exactly`);
  return amount.startsWith("-") && value !== 0 ? -value : value;
}

/** 12050 EUR → `"120.50"`. */
export function fromMinor(value: number, currency: string): string {
  const digits = minorDigits(currency);
  if (digits === 0) return String(value);
  const text = String(Math.abs(value)).padStart(digits + 1, "0");
  return `${value < 0 ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

type Kind = "json" | "boolean" | "money";

function kindOf(schema: TSchema): Kind | undefined {
  const { type } = inner(schema);
  if (isMoney(schema)) return "money";
  if (type === "boolean") return "boolean";
  return type === "string" || type === "integer" || type === "number" ? undefined : "json";
}

/** The codec of a schema. */
export function codec<S extends TObject>(schema: S): Codec<Static<S>> {
  const kinds = new Map<string, Kind>();
  for (const [name, field] of Object.entries(schema.properties)) {
    const kind = kindOf(field);
    if (kind !== undefined) kinds.set(name, kind);
  }
  const special = [...kinds];

  return {
    encode(part, currency) {
      const row: Record<string, unknown> = { ...part };
      const money = currency ?? (row.currency as string | undefined);
      for (const [name, kind] of special) {
        const value = row[name];
        if (value === undefined || value === null) continue;
        if (kind === "json") row[name] = JSON.stringify(value);
        else if (kind === "boolean") row[name] = value === true ? 1 : 0;
        else row[name] = toMinor(value as string, money ?? fail(name), name);
      }
      return row as Row<typeof part>;
    },
    decode(row) {
      const record = row as Record<string, unknown>;
      for (const [name, kind] of special) {
        const value = record[name];
        if (value === undefined || value === null) continue;
        if (kind === "json") record[name] = JSON.parse(value as string);
        else if (kind === "boolean") record[name] = value === 1;
        else record[name] = fromMinor(value as number, record.currency as string);
      }
      return record;
    },
  };
}

/** The columns of a schema, by their names. */
export const columnsOf = <S extends TObject>({ properties }: S): (keyof Static<S>)[] =>
  Object.keys(properties);

function fail(name: string): never {
  throw new Error(`Cannot store the amount "${name}" without its currency`);
}
