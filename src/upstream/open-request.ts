import http, { type ClientRequest, type RequestOptions } from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';

/**
 * Opens a request for got with only the options that the relay sets. Left to itself, got passes forty
 * options, and Node copies and compares each of them several times a call.
 */
export function openRequest(
  url: URL,
  { method, headers, agent }: Pick<RequestOptions, 'method' | 'headers' | 'agent'>,
): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  return request({ ...urlToHttpOptions(url), method, headers, agent });
}
