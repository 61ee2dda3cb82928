/**
 * Twelve homes of the demo account, in several zones.
 *
 * @module
 */

import type { DemoKit } from "#core";

import { create, list } from "./operations.ts";

type Home = readonly [
  title: string,
  city: string,
  country: string,
  zone: string,
  currency: string,
  price: string,
  type: "house" | "apartment" | "cabin",
  guests: number,
];

const homes: readonly Home[] = [
  ["Lake house Varenna", "Varenna", "IT", "Europe/Rome", "EUR", "210.00", "house", 6],
  ["Trastevere loft", "Rome", "IT", "Europe/Rome", "EUR", "145.00", "apartment", 3],
  ["Alfama balcony", "Lisbon", "PT", "Europe/Lisbon", "EUR", "118.00", "apartment", 4],
  ["Harbour cottage", "St Ives", "GB", "Europe/London", "GBP", "165.00", "house", 5],
  ["Prenzlauer Berg studio", "Berlin", "DE", "Europe/Berlin", "EUR", "92.00", "apartment", 2],
  ["Chalet Edelweiss", "Grindelwald", "CH", "Europe/Zurich", "CHF", "320.00", "cabin", 8],
  ["Brooklyn brownstone", "New York", "US", "America/New_York", "USD", "240.00", "apartment", 4],
  ["Joshua Tree cabin", "Joshua Tree", "US", "America/Los_Angeles", "USD", "185.00", "cabin", 4],
  ["Roma Norte flat", "Mexico City", "MX", "America/Mexico_City", "MXN", "1850.00", "apartment", 3],
  ["Bondi terrace", "Sydney", "AU", "Australia/Sydney", "AUD", "275.00", "house", 6],
  ["Gion machiya", "Kyoto", "JP", "Asia/Tokyo", "JPY", "28000", "house", 5],
  ["Fisherman's hut", "Ólafsvík", "IS", "Atlantic/Reykjavik", "EUR", "155.00", "cabin", 4],
];

/** Adds the homes that are not there yet. */
export async function demo({ call }: DemoKit): Promise<void> {
  for (const [place, home] of homes.entries()) {
    const external_id = `demo-${place + 1}`;
    if ((await call(list, { external_id })).data.length > 0) continue;
    const [title, city, country_code, timezone, currency, base_price, property_type, max_guests] =
      home;
    await call(create, {
      title,
      timezone,
      currency,
      base_price,
      property_type,
      max_guests,
      external_id,
      bedrooms: Math.ceil(max_guests / 2),
      beds: Math.ceil(max_guests / 2) + 1,
      address: { ...nowhere, city, country_code },
      amenities: ["wifi", "kitchen", "washer", "heating", "smoke_alarm"],
      tags: ["demo"],
    });
  }
}

const nowhere = {
  line1: null,
  line2: null,
  state: null,
  postal_code: null,
  latitude: null,
  longitude: null,
  display: null,
};
