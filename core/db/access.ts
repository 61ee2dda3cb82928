/**
 * Access is a value, not a habit: every store function takes it first, and says with it whose rows it touches.
 *
 * @module
 */

import { Problem } from "../plugin/problem.ts";

/** Whose rows, which listings, and whose own work only. */
export interface Access {
  readonly account_id: string;
  readonly listing_ids: "all" | readonly string[];
  readonly user_id: string | null;
  /** Sees only what is assigned to `user_id`. */
  readonly assigned_only: boolean;
}

/** All of one account: the command line, jobs and reactions. */
export function wholeAccount(account_id: string): Access {
  return { account_id, listing_ids: "all", user_id: null, assigned_only: false };
}

/** May this listing be touched? */
export function permits(access: Access, listing_id: string): boolean {
  return access.listing_ids === "all" || access.listing_ids.includes(listing_id);
}

/** Throws where this listing may not be touched. */
export function mustPermit(access: Access, listing_id: string): void {
  if (permits(access, listing_id)) return;
  throw new Problem(
    "listing_not_permitted",
    `This credential is not allowed to touch listing "${listing_id}": use one that covers it`,
    { extra: { listing_id } },
  );
}
