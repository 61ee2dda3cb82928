/**
 * A stay in time: local dates are the truth, instants follow from them and the listing's zone.
 *
 * @module
 */

import { dateIn, instantIn, invalid, nightsBetween } from "#core";
import type { Terms } from "#plugins/listings";

import type { Stage, Status, StoredReservation } from "./schema.ts";

/** No stay is longer. */
const mostNights = 730;

/** The dates of a stay. */
export interface Dates {
  readonly check_in_date: string;
  readonly check_out_date: string;
}

/** Throws unless check-out comes after check-in, and not too long after it. */
export function nightsOf({ check_in_date, check_out_date }: Dates): number {
  const nights = nightsBetween(check_in_date, check_out_date);
  if (nights < 1) {
    throw invalid(
      "check_out_date",
      "must_be_after",
      `"check_out_date" must be after "check_in_date" (${check_in_date})`,
    );
  }
  if (nights > mostNights) {
    throw invalid(
      "check_out_date",
      "too_large",
      `The stay has ${nights} nights: at most ${mostNights} are allowed`,
    );
  }
  return nights;
}

/** What follows from the dates and the listing. */
export function timesOf(
  { check_in_date, check_out_date }: Dates,
  {
    timezone,
    check_in_time,
    check_out_time,
  }: Pick<Terms, "timezone" | "check_in_time" | "check_out_time">,
) {
  return {
    timezone,
    check_in_time,
    check_out_time,
    check_in_at: instantIn(timezone, check_in_date, check_in_time),
    check_out_at: instantIn(timezone, check_out_date, check_out_time),
  };
}

const before: Partial<Record<Status, Stage>> = {
  inquiry: "inquiry",
  pending: "pending",
  awaiting_payment: "pending",
  declined: "cancelled",
  expired: "cancelled",
  cancelled: "cancelled",
};

/** Tells the date at an instant, zone by zone; each zone is worked out once. */
export function calendarDay(now: string): (zone: string) => string {
  const days = new Map<string, string>();
  return (zone) => {
    const day = days.get(zone) ?? dateIn(zone, now);
    days.set(zone, day);
    return day;
  };
}

/** How a stay stands on a day, the day being that of the listing's zone. */
export function stageOf(
  { status, check_in_date, check_out_date }: Pick<StoredReservation, "status" | keyof Dates>,
  today: string,
): Stage {
  const early = before[status];
  if (early !== undefined) return early;
  if (today < check_in_date) return "upcoming";
  if (today === check_in_date) return "arriving_today";
  if (today < check_out_date) return "currently_hosting";
  return today === check_out_date ? "departing_today" : "checked_out";
}
