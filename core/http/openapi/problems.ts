/**
 * Problems, documented: what each code means, and which of them an operation may meet.
 *
 * @module
 */

import { type ProblemCode, problemStatus } from "../../plugin/problem.ts";
import type { RegisteredOperation } from "../../plugin/registry.ts";
import { type ExtraFields, meanings } from "./meanings.ts";
import type { Json } from "./schemas.ts";

/** Codes by status, each list in the order of `problemStatus`. */
export type ProblemTable = ReadonlyMap<number, readonly ProblemCode[]>;

const credential: readonly ProblemCode[] = [
  "missing_credential",
  "invalid_api_key",
  "invalid_token",
  "revoked",
];
const always: readonly ProblemCode[] = ["rate_limited", "internal", "maintenance"];
const ofBody: readonly ProblemCode[] = [
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
];

/** Sorts codes by their status. */
function tableOf(codes: readonly ProblemCode[]): ProblemTable {
  const inOrder = (Object.keys(problemStatus) as ProblemCode[]).filter((code) =>
    codes.includes(code),
  );
  return Map.groupBy(inOrder, (code) => problemStatus[code]);
}

/** All that an operation may meet. */
export function problemsOf(
  { operation, path, reads, origins }: RegisteredOperation,
  versioned: boolean,
): ProblemTable {
  const codes: ProblemCode[] = [...always, ...credential, "unknown_parameter", "validation_failed"];
  if (!reads) codes.push(...ofBody);
  if (origins.cursor === "query") codes.push("invalid_cursor");
  if (operation.scope !== null) codes.push("insufficient_scope");
  if (operation.plan !== undefined && operation.plan !== "free")
    codes.push("plan_upgrade_required");
  if (operation.whole_account === true) codes.push("listing_not_permitted");
  if (path.includes(":")) codes.push("not_found");
  if (versioned && !reads) codes.push("version_mismatch");
  return tableOf([...codes, ...(operation.problems ?? [])]);
}

/** What a raw route may meet before its own handler is asked. */
export const problemsOfRoute = (scope: string): ProblemTable =>
  tableOf(scope === "public" ? always : [...always, ...credential, "insufficient_scope"]);

/** Writes the answers of errors, each combination of status and codes once. */
export interface ProblemWriter {
  /** The references of an operation's errors, by status. */
  write(table: ProblemTable): Json;
  readonly components: ReadonlyMap<string, Json>;
}

/** Makes a writer. */
export function createProblemWriter(): ProblemWriter {
  const components = new Map<string, Json>();
  return {
    components,
    write(table) {
      const references: Json = {};
      for (const [status, codes] of [...table].sort(([one], [other]) => one - other)) {
        const name = `${status}-${codes.join("-")}`;
        if (!components.has(name)) components.set(name, response(status, codes));
        references[status] = { $ref: `#/components/responses/${name}` };
      }
      return references;
    },
  };
}

function response(status: number, codes: readonly ProblemCode[]): Json {
  const extra =
    status === 401 ? ["WWW-Authenticate"] : status === 429 || status === 503 ? ["Retry-After"] : [];
  return {
    description: codes.map((code) => `\`${code}\`: ${meanings[code].means}`).join("\n\n"),
    headers: headerReferences(extra),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }])),
      },
    },
  };
}

/** The headers of every answer, and `more`. */
export function headerReferences(more: readonly string[]): Json {
  const every = [
    "X-Request-Id",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Service-Tier",
  ];
  return Object.fromEntries(
    [...every, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const none: ExtraFields = {};

function exampleError(code: ProblemCode): Json {
  const { means, extra = none } = meanings[code];
  const { details, ...rest } = extra;
  const error = {
    code,
    message: means,
    status: problemStatus[code],
    request_id: "01KAFW3N5V7Q2X8Z4R6T9Y0B1C",
    ...rest,
  };
  return { error: details === undefined ? error : { ...error, details } };
}

/** The schema of every error. */
export const errorSchema: Json = {
  type: "object",
  title: "Error",
  description:
    "The one shape of every error. Some codes bring fields of their own, which their examples show.",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "status", "request_id"],
      properties: {
        code: {
          type: "string",
          enum: Object.keys(problemStatus),
          description: "For machines: a closed list.",
        },
        message: {
          type: "string",
          description: "For people: what happened, where, and what to do.",
        },
        status: { type: "integer", description: "The status of the answer." },
        request_id: {
          type: "string",
          description: "As in `X-Request-Id`; quote it when you report a fault.",
        },
        details: {
          type: "array",
          description: "One entry per faulty field; absent where no field is at fault.",
          items: {
            type: "object",
            required: ["field", "code", "message"],
            properties: {
              field: {
                type: "string",
                description: "The path of the field, such as `guest.full_name`.",
              },
              code: {
                type: "string",
                description: "Such as `required`, `too_long` or `invalid_format`.",
              },
              message: { type: "string" },
            },
          },
        },
      },
      additionalProperties: true,
    },
  },
  examples: [exampleError("validation_failed")],
};
