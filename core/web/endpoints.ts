/**
 * The pages for people, as endpoints.
 *
 * @module
 */

import type { App } from "../app.ts";
import { type Endpoint, endpoint } from "../http/endpoint.ts";
import { createAssets } from "./assets.ts";
import { firstPage } from "./first_page.ts";
import { createSetup } from "./setup.ts";

/** Makes their endpoints. */
export function createWeb(app: App): Endpoint[] {
  return [
    endpoint(app, { path: "/", page: true, answer: () => firstPage(app) }),
    ...createSetup(app),
    ...createAssets(app),
  ];
}
