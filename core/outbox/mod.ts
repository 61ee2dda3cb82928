/**
 * The outbox: events and deliveries in the unit of the write that made them true, and the senders that work them off.
 *
 * request → operation → unit → event → delivery → receiver. A commit has all of it; a crash loses none of it.
 *
 * @module
 */

import { definePlugin } from "../plugin/define.ts";
import { migrations } from "./tables.ts";

export { createDeliverer, type Deliverer } from "./deliverer.ts";
export { wellFormed } from "./envelope.ts";
export { createReactor, type InAccount } from "./reactions.ts";
export { type Emitted, record } from "./record.ts";
export {
  countSubscriptions,
  deleteSubscription,
  eventsUnderWay,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  newSecret,
  sealSecret,
  subscriptionsMadeBy,
  updateSubscription,
} from "./subscriptions.ts";
export type { SubscriptionRow } from "./tables.ts";

/** The outbox's tables, as a plugin of core. */
export const outboxPlugin = definePlugin({
  name: "outbox",
  summary: "Events on their way to receivers.",
  migrations,
});
