/**
 * The plugins, in the order in which they are loaded: one line each.
 *
 * @module
 */

import type { Plugin } from "#core";
import calendar from "#plugins/calendar";
import guests from "#plugins/guests";
import listings from "#plugins/listings";
import reservations from "#plugins/reservations";
import webhooks from "#plugins/webhooks";

/** All domains of this server. */
export const plugins: readonly Plugin[] = [listings, guests, calendar, reservations, webhooks];
