/**
 * Who comes to stay.
 *
 * @module
 */

import { instant, nullable, type Static, t, text } from "#core";

const personal = { "x-personal": true };

/** What may be written. */
export const guestFields = {
  full_name: text(200, { minLength: 1, examples: ["Ada Lovelace"], ...personal }),
  email: nullable(t.String({ format: "email", maxLength: 254, ...personal }), {
    default: null,
    examples: ["ada@example.com"],
  }),
  phone: nullable(t.String({ pattern: "^\\+[1-9]\\d{5,14}$", ...personal }), {
    default: null,
    examples: ["+390612345678"],
    description: "E.164: a plus sign, the country, the number.",
  }),
  locale: nullable(t.String({ pattern: "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$" }), {
    default: null,
    examples: ["it"],
    description: "BCP 47.",
  }),
};

export const NewGuest = t.Object({
  ...guestFields,
  notes: nullable(text(5000, personal), { default: null }),
  tags: t.Array(text(40, { minLength: 1 }), { maxItems: 50, uniqueItems: true, default: [] }),
});

/** What may be changed. Without the defaults: what is not given stays as it is. */
export const GuestChange = t.Partial(
  t.Object(
    Object.fromEntries(
      Object.entries(NewGuest.properties).map(([name, { default: _default, ...field }]) => [
        name,
        field,
      ]),
    ) as typeof NewGuest.properties,
  ),
);

export const Guest = t.Object(
  {
    id: t.String({ examples: ["0198f3a0-5c1e-7d2b-9a44-3f6c8d1e2b72"] }),
    account_id: t.String(),
    ...NewGuest.properties,
    created_at: instant(),
    updated_at: instant(),
    version: t.Integer(),
  },
  { title: "Guest" },
);

export type Guest = Static<typeof Guest>;

/** A guest as other records show one. */
export const GuestCard = t.Object({ id: t.String(), ...guestFields }, { title: "GuestCard" });

export type GuestCard = Static<typeof GuestCard>;
