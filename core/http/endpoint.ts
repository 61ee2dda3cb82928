/**
 * Endpoints: paths of core's own that are neither operations nor a plugin's routes.
 *
 * @module
 */

/** Answers a request; `params` are those of its path. */
export type Handler = (request: Request, params: Record<string, string>) => Promise<Response>;

/** A path with what answers one of its methods. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** How it is called in the metrics; the path where absent. */
  readonly name?: string;
  readonly handle: Handler;
}
