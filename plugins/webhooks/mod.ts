/**
 * Webhooks: who is told of what, by signed deliveries from the outbox.
 *
 * @module
 */

import { definePlugin } from "#core";

import * as events from "./events.ts";
import * as operations from "./operations.ts";

export default definePlugin({
  name: "webhooks",
  summary: "Who is told of what.",
  operations,
  events,
  records: { webhook: operations.create },
});
