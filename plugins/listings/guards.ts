import { createApiKey, defineGuard } from "#core";

import * as store from "./store.ts";

/** A key is restricted to listings that are there: a stranger's id is an error, not a key that sees nothing. */
export const restrict_to_own = defineGuard({
  name: "listings.restrict_to_own",
  on: createApiKey,
  async check({ listing_ids }, { db, access }) {
    for (const id of listing_ids ?? []) await store.find(access, db, id);
  },
});
