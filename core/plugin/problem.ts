/**
 * Problems: the closed set of errors that a caller may meet, each with its status. Anything else that is thrown is a
 * fault of ours: it is logged and answered as `internal`, without its text.
 *
 * @module
 */

/** Every code, and the status it travels with (`domain.md` §3.4 names the meaning of each). */
export const problemStatus = {
  invalid_json: 400,
  unknown_parameter: 400,
  invalid_cursor: 400,
  missing_credential: 401,
  invalid_api_key: 401,
  invalid_token: 401,
  revoked: 401,
  plan_upgrade_required: 402,
  insufficient_scope: 403,
  listing_not_permitted: 403,
  origin_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  dates_unavailable: 409,
  duplicate: 409,
  idempotency_key_in_use: 409,
  invalid_transition: 409,
  version_mismatch: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  webhook_url_not_https: 422,
  webhook_url_forbidden: 422,
  unknown_event: 422,
  idempotency_key_reused: 422,
  precondition_required: 428,
  rate_limited: 429,
  internal: 500,
  maintenance: 503,
} as const;

/** The name of a problem, for machines. */
export type ProblemCode = keyof typeof problemStatus;

/** What is wrong with one field: a path such as `guest.full_name`, a code for machines and a sentence for people. */
export interface Detail {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** What a problem may carry beside its code and its message. */
export interface ProblemOptions {
  /** One entry per faulty field. */
  readonly details?: readonly Detail[];
  /** More fields of the error object, such as `conflicts` or `required_scopes`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Headers of the answer, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the caller can understand and mend: what happened, where, and what to do. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: readonly Detail[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, message: string, options: ProblemOptions = {}) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.details = options.details ?? [];
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return problemStatus[this.code];
  }

  /** The one shape of every error on every surface. `details` is there only where a field is at fault. */
  body(requestId: string): { error: Record<string, unknown> } {
    const { code, message, status, details, extra } = this;
    const error = { code, message, status, request_id: requestId, ...extra };
    return { error: details.length > 0 ? { ...error, details } : error };
  }
}

/** One field is wrong. */
export function invalid(field: string, code: string, message: string): Problem {
  return new Problem("validation_failed", message, { details: [{ field, code, message }] });
}

/** A record is not there, or belongs to somebody else: the answer is the same. */
export function notFound(resource: string, id: string): Problem {
  return new Problem(
    "not_found",
    `Cannot find ${resource} "${id}": no such ${resource} in this account`,
    {
      extra: { resource, id },
    },
  );
}
