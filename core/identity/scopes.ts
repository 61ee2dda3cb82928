/**
 * Scopes: `resource:action`. `*` on either side of the colon stands for all, and so does `*` alone. Nothing is implied:
 * writing does not include reading.
 *
 * @module
 */

/** Do the granted scopes cover the needed one? */
export function covers(granted: readonly string[], needed: string): boolean {
  for (const scope of granted) {
    if (scope === "*" || scope === needed) return true;
    if (!scope.includes("*")) continue;
    const [resource, action] = scope.split(":");
    const [wantedResource, wantedAction] = needed.split(":");
    if (
      (resource === "*" || resource === wantedResource) &&
      (action === "*" || action === wantedAction)
    )
      return true;
  }
  return false;
}

/** Is it a scope that exists here, or a pattern that covers one? */
export function isScope(text: string, known: readonly string[]): boolean {
  return text === "*" || known.some((scope) => covers([text], scope));
}

/** May somebody with `granted` give away `wanted`? A pattern only where the pattern itself, or a wider one, is held. */
export function mayGrant(granted: readonly string[], wanted: string): boolean {
  if (wanted === "*") return granted.includes("*");
  return covers(granted, wanted);
}
