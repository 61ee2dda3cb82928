/**
 * Listings: the homes that are let, and what guests, prices and calendars need to know of them.
 *
 * @module
 */

import { definePlugin } from "#core";

import { demo } from "./demo.ts";
import * as events from "./events.ts";
import * as guards from "./guards.ts";
import { migrations } from "./migrations.ts";
import * as operations from "./operations.ts";

export { Listing } from "./schema.ts";
export { find, mustBeInUse, terms, type Terms, titles } from "./store.ts";
export { events, operations };

export default definePlugin({
  name: "listings",
  summary: "The homes that are let.",
  operations,
  events,
  guards,
  migrations,
  records: { listing: operations.create },
  demo,
});
