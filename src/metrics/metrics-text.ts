import type { Registry } from 'prom-client';

/** What is counted, as it is told. */
export interface MetricsText {
  /** Everything counted so far, in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** What one process has counted. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
