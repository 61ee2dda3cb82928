/**
 * Metrics: what is counted while requests are answered. Counting is a few additions on plain numbers; what Prometheus
 * reads is written when it asks.
 *
 * @module
 */

import type { Handler } from "../http/endpoint.ts";

/** Upper bounds of the duration histogram, in seconds. */
export const bounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
] as const;

/** What is counted of one operation. */
export interface Series {
  /** Answers by status. */
  readonly statuses: Record<number, number>;
  /** Answers by the first bound that their duration did not pass; the last place is for those beyond all. */
  readonly durations: number[];
  /** Seconds, of all answers together. */
  seconds: number;
}

/** What is counted, by the name of the operation, route or endpoint. */
export interface Metrics {
  series(name: string): Series;
  readonly all: ReadonlyMap<string, Series>;
}

/** Makes the counters. */
export function createMetrics(): Metrics {
  const all = new Map<string, Series>();
  return {
    all,
    series(name) {
      let series = all.get(name);
      if (series === undefined) {
        series = {
          statuses: {},
          durations: Array.from({ length: bounds.length + 1 }, () => 0),
          seconds: 0,
        };
        all.set(name, series);
      }
      return series;
    },
  };
}

/** Counts one answer. */
export function note(series: Series, status: number, seconds: number): void {
  series.statuses[status] = (series.statuses[status] ?? 0) + 1;
  series.seconds += seconds;
  let place = 0;
  while (place < bounds.length && seconds > (bounds[place] as number)) place++;
  series.durations[place] = (series.durations[place] ?? 0) + 1;
}

/** The same handler, counted. */
export function measured(metrics: Metrics, name: string, handle: Handler): Handler {
  const series = metrics.series(name);
  return async (request, params) => {
    const began = performance.now();
    const response = await handle(request, params);
    note(series, response.status, (performance.now() - began) / 1000);
    return response;
  };
}
