import type { RequestListener } from 'node:http';
import type { MetricsText } from './metrics-text.ts';

/** Answers `GET /metrics`, on a port of its own that is not for the public. */
export function metricsListener(metrics: MetricsText): RequestListener {
  return async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const text = await metrics.text();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  };
}
