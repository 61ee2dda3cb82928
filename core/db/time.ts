/**
 * Dates, instants and zones as they stand on the wire. Everything here is pure; the clock is in `clock.ts`.
 *
 * @module
 */

import { Temporal } from "temporal-polyfill";

/** Is it a real date of the calendar, `YYYY-MM-DD`? */
export function isDate(text: string): boolean {
  if (!/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(text)) return false;
  // Every month has 28 days.
  const day = Number(text.slice(8));
  return (
    day <= 28 ||
    day <= new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate()
  );
}

/** Is it an instant, `YYYY-MM-DDTHH:MM:SSZ`? */
export function isInstant(text: string): boolean {
  return /^.{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text) && isDate(text.slice(0, 10));
}

/** Is it a time of day, `HH:MM`? */
export const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

const zones = new Map<string, boolean>();
const longestZone = 64;

/** Is it an IANA zone? Offsets such as `+02:00` are not: they know no daylight saving. */
export function isTimezone(text: string): boolean {
  // What is remembered must be short.
  if (text.length > longestZone) return false;
  let known = zones.get(text);
  if (known === undefined) {
    known = /^(UTC|[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+)$/.test(text) && resolves(text);
    if (zones.size < 2000) zones.set(text, known);
  }
  return known;
}

function resolves(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** `YYYY-MM-DDTHH:MM:SSZ` of milliseconds since 1970. */
export function instantOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since 1970 of an instant. */
export const msOf = (instant: string): number => Date.parse(instant);

/** The date `days` later (or earlier). */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** How many nights lie in `[from, to)`. */
export const nightsBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);

/**
 * The instant of a local date and time in a zone. A time that a clock change leaves out moves forward; one that comes
 * twice is the earlier one.
 */
export function instantIn(zone: string, date: string, time: string): string {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  return instantOf(local.toZonedDateTime(zone, { disambiguation: "compatible" }).epochMilliseconds);
}

/** The local date of an instant in a zone. */
export function dateIn(zone: string, instant: string): string {
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDate().toString();
}
