/**
 * Plans: what an account may use. A plan is of the account; a tier is of a credential.
 *
 * @module
 */

import type { Config } from "../config/mod.ts";
import { Problem } from "../plugin/problem.ts";
import type { AnyOperation } from "../plugin/types.ts";

/** From the smallest to the largest; a new account has the largest. */
export const plans = ["free", "pro", "enterprise"] as const;

/** The name of a plan. */
export type Plan = (typeof plans)[number];

/** Throws where an operation needs a larger plan. */
export function mustAfford(
  { baseUrl }: Config,
  plan: Plan,
  { plan: needed, name }: AnyOperation,
): void {
  if (needed === undefined || plans.indexOf(plan) >= plans.indexOf(needed)) return;
  throw new Problem(
    "plan_upgrade_required",
    `This needs the plan "${needed}", and the account has "${plan}"`,
    {
      extra: {
        current_tier: plan,
        required_tier: needed,
        feature: name,
        billing_url: `${baseUrl}/settings/plan`,
      },
    },
  );
}
