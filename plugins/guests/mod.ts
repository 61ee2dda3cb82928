/**
 * Guests: who comes to stay.
 *
 * @module
 */

import { definePlugin } from "#core";

import * as operations from "./operations.ts";
import { migrations } from "./store.ts";

export { GuestCard, guestFields } from "./schema.ts";
export { cards, find, findByEmail, insert, matching } from "./store.ts";

export default definePlugin({
  name: "guests",
  summary: "Who comes to stay.",
  operations,
  migrations,
  records: { guest: operations.create },
});
