/**
 * Input: path, query and body become one object, each field from where it belongs and from nowhere else. Numbers and
 * lists are read out of texts in the query only.
 *
 * @module
 */

import { type Detail, Problem } from "../plugin/problem.ts";
import type { RegisteredOperation } from "../plugin/registry.ts";
import { inner, type TObject, type TSchema } from "../plugin/schema.ts";

/** Largest body of an operation, in bytes. */
export const mostBody = 1024 * 1024;

/** A request's input, and what else its query said. */
export interface RequestInput {
  readonly input: Record<string, unknown>;
  readonly dry_run: boolean;
  readonly fields: readonly string[] | undefined;
  /** The body as it came, for the digest of an idempotent request. */
  readonly body: string;
}

/** Reads the input of an operation. */
export async function readInput(
  registered: RegisteredOperation,
  request: Request,
  params: Readonly<Record<string, string>>,
): Promise<RequestInput> {
  const { operation, origins, reads } = registered;
  const { properties } = operation.input as TObject;

  const body = reads ? "" : await readBody(request);
  const input = body === "" ? {} : parseBody(request, body, registered);

  const query = readQuery(request.url);
  let dry_run = false;
  let fields: string[] | undefined;
  const unknown: string[] = [];
  for (const [name, values] of query) {
    if (origins[name] === "query") input[name] = fromQuery(properties[name] as TSchema, values);
    else if (name === "dry_run" && !reads) dry_run = yes(name, values);
    else if (name === "fields" && reads) fields = values.flatMap((each) => each.split(","));
    else unknown.push(name);
  }
  if (unknown.length > 0) throw unknownParameters(unknown, registered);

  for (const [name, origin] of Object.entries(origins)) {
    if (origin === "path") input[name] = params[name];
  }
  return { input, dry_run, fields, body };
}

function readQuery(url: string): Map<string, string[]> {
  const query = new Map<string, string[]>();
  const mark = url.indexOf("?");
  if (mark < 0) return query;
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    query.set(name, [...(query.get(name) ?? []), value]);
  }
  return query;
}

/** A field out of the texts of its parameter. What cannot be read stays a text, for the check to refuse. */
function fromQuery(schema: TSchema, values: readonly string[]): unknown {
  const bare = inner(schema);
  if (bare.type === "array") {
    return values
      .flatMap((each) => each.split(","))
      .map((each) => scalar(bare.items as TSchema, each));
  }
  // Given twice, it is not clear which one is meant: the list is refused by the check.
  return values.length === 1 ? scalar(bare, values[0] as string) : values;
}

function scalar({ type }: TSchema, text: string): unknown {
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "number" && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function yes(name: string, values: readonly string[]): boolean {
  const value = values.at(-1);
  if (value === "true" || value === "1" || value === "") return true;
  if (value === "false" || value === "0") return false;
  const message = `"${name}" must be true or false`;
  throw new Problem("validation_failed", message, {
    details: [{ field: name, code: "wrong_type", message }],
  });
}

function unknownParameters(
  names: readonly string[],
  { origins, reads }: RegisteredOperation,
): Problem {
  const own = Object.keys(origins).filter((name) => origins[name] === "query");
  const known = [...own, reads ? "fields" : "dry_run"];
  const details = names.map((field): Detail => {
    const message = `"${field}" is not a query parameter here; there are: ${known.join(", ")}`;
    return { field, code: "unknown_parameter", message };
  });
  return new Problem("unknown_parameter", details.map(({ message }) => message).join("; "), {
    details,
  });
}

/** The body as text; throws beyond the limit without reading the rest. */
export async function readBody(request: Request): Promise<string> {
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > mostBody) throw tooLarge();
  if (announced >= 0 || request.body === null) return await request.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of request.body) {
    bytes += chunk.length;
    if (bytes > mostBody) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A body is beyond the limit. */
export const tooLarge = (): Problem =>
  new Problem("payload_too_large", `The body is larger than ${mostBody} bytes: send less at once`, {
    extra: { limit_bytes: mostBody },
  });

function parseBody(
  request: Request,
  text: string,
  { origins, operation }: RegisteredOperation,
): Record<string, unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    throw new Problem(
      "unsupported_media_type",
      `The body must be sent as application/json, not "${type}"`,
    );
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    throw new Problem("invalid_json", `The body is not valid JSON: ${why}`);
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    const message = "The body must be a JSON object";
    throw new Problem("validation_failed", message, {
      details: [{ field: "(body)", code: "wrong_type", message }],
    });
  }
  const elsewhere = Object.keys(body).filter(
    (name) => Object.hasOwn(origins, name) && origins[name] !== "body",
  );
  if (elsewhere.length > 0) {
    const details = elsewhere.map((field): Detail => {
      const message = `"${field}" belongs in the ${origins[field]} of ${operation.route}, not in the body`;
      return { field, code: "unknown_field", message };
    });
    throw new Problem("validation_failed", details.map(({ message }) => message).join("; "), {
      details,
    });
  }
  return body as Record<string, unknown>;
}
