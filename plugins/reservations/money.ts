/**
 * What a stay costs, where the caller does not say.
 *
 * @module
 */

import { fromMinor, invalid, toMinor } from "#core";
import type { Terms } from "#plugins/listings";

import type { NewReservation } from "./schema.ts";

const parts = ["accommodation_total", "cleaning_fee", "fees_total", "taxes_total"] as const;

/** The amounts of a new reservation. Without any the nights cost the listing's base price. */
export function amountsOf(
  input: NewReservation,
  { currency, base_price, cleaning_fee }: Terms,
  nights: number,
) {
  const given = {
    accommodation_total: input.accommodation_total,
    cleaning_fee: input.cleaning_fee,
    fees_total: input.fees_total,
    taxes_total: input.taxes_total,
    discounts_total: input.discounts_total,
    total_price: input.total_price,
    channel_commission: input.channel_commission,
    host_payout: input.host_payout,
  };
  if (given.total_price !== null) return given;
  if (given.accommodation_total === null) {
    if (base_price === null || input.kind === "owner_stay") return given;
    given.accommodation_total = amountOf(
      toMinor(base_price, currency) * nights,
      currency,
      "accommodation_total",
    );
    given.cleaning_fee ??= cleaning_fee;
  }
  const minor = (amount: string | null, field: string): number =>
    amount === null ? 0 : toMinor(amount, currency, field);
  const sum = parts.reduce((total, part) => total + minor(given[part], part), 0);
  const total = sum - minor(given.discounts_total, "discounts_total");
  if (total < 0)
    throw invalid(
      "discounts_total",
      "too_large",
      '"discounts_total" is larger than all that it is taken from',
    );
  given.total_price = amountOf(total, currency, "total_price");
  return given;
}

/** A sum as it is shown. Throws beyond what an amount may have. */
function amountOf(minor: number, currency: string, field: string): string {
  const text = fromMinor(minor, currency);
  if (/^\d{1,12}(\.|$)/.test(text)) return text;
  throw invalid(field, "too_large", `"${field}" comes to ${text}, more than an amount may be`);
}
