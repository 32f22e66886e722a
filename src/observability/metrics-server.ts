import type { RequestListener } from 'node:http';
import type { Metrics } from './metrics.ts';

/** Answers `GET /metrics` on a private port. */
export function metricsListener(metrics: Metrics): RequestListener {
  return async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    const text = await metrics.text();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  };
}
