/**
 * Patience: a call may take longer than a line may be silent. Servers and proxies cut lines that say nothing for half
 * a minute or so; an answer that is late becomes an event stream, which a comment now and then keeps open.
 *
 * @module
 */

/** How long a line may be silent, in milliseconds. */
const longestSilence = 15_000;

/** The answer; where it is late, a stream that ends with it. */
export async function patiently(
  answer: Promise<Response>,
  silence = longestSilence,
): Promise<Response> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, silence, undefined);
  });
  const response = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  return response ?? stream(answer, silence);
}

function stream(answer: Promise<Response>, silence: number): Response {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = (): void => controller.enqueue(encoder.encode(": still at work\n\n"));
      beat();
      timer = setInterval(beat, silence);
      answer
        .then(async (response) => {
          for await (const chunk of events(response)) if (!left) controller.enqueue(chunk);
          clearInterval(timer);
          if (!left) controller.close();
        })
        .catch((error: unknown) => {
          clearInterval(timer);
          if (!left) controller.error(error);
        });
    },
    cancel() {
      left = true;
      clearInterval(timer);
    },
  });
  const headers = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  };
  return new Response(body, { headers });
}

/** An answer as events: JSON is one of them, and a stream is what it is. */
async function* events(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
    yield* response.body;
  else yield new TextEncoder().encode(`event: message\ndata: ${await response.text()}\n\n`);
}
