/**
 * Reservations: who stays where and when, from the first question to the departure.
 *
 * @module
 */

import { definePlugin } from "#core";
import calendar from "#plugins/calendar";
import guests from "#plugins/guests";
import listings from "#plugins/listings";

import { demo } from "./demo.ts";
import * as events from "./events.ts";
import * as guards from "./guards.ts";
import { migrations } from "./migrations.ts";
import * as operations from "./operations.ts";
import * as reactions from "./reactions.ts";

export default definePlugin({
  name: "reservations",
  summary: "Who stays where and when.",
  needs: [listings, guests, calendar],
  operations,
  events,
  guards,
  reactions,
  migrations,
  records: { reservation: operations.create },
  demo,
});
