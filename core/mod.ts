/**
 * The one door of core: all that a plugin may import.
 *
 * @module
 */

export {
  type Access,
  acrossAccounts,
  addDays,
  codec,
  columnsOf,
  type Database,
  dateIn,
  eachText,
  fromMinor,
  hasEntry,
  holdsText,
  isAmong,
  instantIn,
  instantOf,
  isDate,
  type Migrations,
  msOf,
  mustPermit,
  newId,
  nightsBetween,
  type Page,
  type PageInput,
  pageInput,
  pageOf,
  paginate,
  permits,
  pick,
  prepared,
  type Row,
  tables,
  toMinor,
} from "./db/mod.ts";
export { create as createApiKey } from "./identity/api_keys.ts";
export { covers } from "./identity/scopes.ts";
export {
  countSubscriptions,
  deleteSubscription,
  eventsUnderWay,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  newSecret,
  sealSecret,
  type SubscriptionRow,
  subscriptionsMadeBy,
  updateSubscription,
} from "./outbox/mod.ts";
export {
  defineEvent,
  defineGuard,
  defineJob,
  defineOperation,
  definePlugin,
  defineReaction,
  defineRoute,
  defineTool,
} from "./plugin/define.ts";
export { invalid, notFound, Problem } from "./plugin/problem.ts";
export { sample } from "./plugin/sample.ts";
export {
  choice,
  currency,
  date,
  instant,
  localTime,
  metadata,
  money,
  nullable,
  ref,
  secret,
  type Static,
  t,
  text,
  timezone,
} from "./plugin/schema.ts";
export type { Context, DemoKit, EventType, Plugin, Services } from "./plugin/types.ts";
export { sql } from "kysely";
