/**
 * The body of a request: one JSON-RPC message.
 *
 * @module
 */

import { isJsonContentType, readRequestBody } from "@modelcontextprotocol/server";

import { mostBody, tooLarge } from "../http/input.ts";
import { Problem } from "../plugin/problem.ts";
import type { Message } from "./server.ts";

/** A message that was read. */
export interface ReadMessage {
  readonly message: Message;
}

/** Reads the message, or answers what is wrong with it in the protocol's own form. */
export async function readMessage(request: Request): Promise<ReadMessage | Response> {
  const type = request.headers.get("content-type");
  if (!isJsonContentType(type)) {
    throw new Problem(
      "unsupported_media_type",
      `The body must be sent as application/json, not "${type ?? ""}"`,
    );
  }
  const body = await readRequestBody(request, mostBody);
  if (body.tooLarge) throw tooLarge();
  let message: unknown;
  try {
    message = JSON.parse(body.text);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    return refusal(-32_700, `Parse error: the body is not valid JSON: ${why}`);
  }
  if (Array.isArray(message))
    return refusal(-32_600, "Invalid request: send one message per POST, not a list of them");
  if (typeof message !== "object" || message === null)
    return refusal(-32_600, "Invalid request: the body must be a JSON object");
  return { message };
}

const refusal = (code: number, message: string): Response =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status: 400 });
