import { choice, date, defineEvent, money, nullable, t } from "#core";

export const updated = defineEvent({
  name: "calendar.updated",
  summary:
    "Availability, price or minimum stay of a listing's nights changed, for whatever reason.",
  scope: "calendars:read",
  listing: "listing_id",
  payload: t.Object({
    listing_id: t.String(),
    listing_title: t.String({ examples: ["Lake house"] }),
    start_date: date(),
    end_date: date({ examples: ["2027-05-17"], description: "The day after the last night." }),
    reasons: t.Array(choice(["manual", "reservation", "rule", "ical", "channel", "price"]), {
      examples: [["reservation"]],
    }),
    days: t.Array(
      t.Object({
        date: date(),
        available: t.Boolean(),
        price: nullable(money()),
        min_nights: t.Integer({ minimum: 1 }),
      }),
      { maxItems: 62 },
    ),
    truncated: t.Boolean({ description: "More days changed than are listed: read the calendar." }),
  }),
});
