import { defineEvent, t } from "#core";

export const verification = defineEvent({
  name: "webhook.verification",
  summary:
    "A subscription was made, or a test was asked for: the receiver can check its signature and that it is reached.",
  scope: null,
  listing: null,
  only: "subscription_id",
  payload: t.Object({
    message: t.String({ examples: ["This endpoint is subscribed to Innkeep."] }),
    subscription_id: t.String(),
    url: t.String({ format: "uri" }),
  }),
});
