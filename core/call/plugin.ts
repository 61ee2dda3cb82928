/**
 * What calls keep, as a plugin of core.
 *
 * @module
 */

import { definePlugin } from "../plugin/define.ts";
import { forgetAnswers, migrations } from "./idempotency.ts";

/** The kept answers of writes. */
export const callsPlugin = definePlugin({
  name: "calls",
  summary: "Answers that are kept for whoever repeats a request.",
  jobs: { forget_answers: forgetAnswers },
  migrations,
});
