/**
 * The calendar: the ledger of nights that stays, blocks and feeds share, and what is shown of it.
 *
 * @module
 */

import { definePlugin } from "#core";
import listings from "#plugins/listings";

import * as events from "./events.ts";
import * as jobs from "./jobs.ts";
import { migrations } from "./migrations.ts";
import * as operations from "./operations.ts";
import * as reactions from "./reactions.ts";

export { occupy, vacate } from "./ledger.ts";

export default definePlugin({
  name: "calendar",
  summary: "Which nights are free, and who holds the others.",
  needs: [listings],
  operations,
  events,
  jobs,
  reactions,
  migrations,
  records: { calendar_block: operations.block },
});
