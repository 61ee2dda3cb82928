import { choice, defineEvent, t } from "#core";

import { Listing } from "./schema.ts";

const { wifi_password: _password, access_instructions: _access, ...open } = Listing.properties;

export const updated = defineEvent({
  name: "listing.updated",
  summary: "A listing was created, changed or archived.",
  scope: "listings:read",
  listing: "listing_id",
  payload: t.Object({
    ...open,
    listing_id: t.String(),
    listing_title: t.String({ examples: ["Lake house"] }),
    change: choice(["created", "updated", "archived"], { examples: ["updated"] }),
    changed_fields: t.Array(t.String(), { examples: [["title"]] }),
  }),
});
