import http, { type ClientRequest, type RequestOptions } from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';

/**
 * Opens a request for got with what the relay sets alone. Of the forty options that got would hand
 * over, Node copies and compares each several times a call.
 */
export function openRequest(
  url: URL,
  { method, headers, agent }: Pick<RequestOptions, 'method' | 'headers' | 'agent'>,
): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  return request({ ...urlToHttpOptions(url), method, headers, agent });
}
