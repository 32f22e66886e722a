import { expect } from 'chai';
import type { Answer } from '../client/http-client.ts';

/** The headers of every answer. */
export function expectSafeHeaders(answer: Answer): void {
  const { headers } = answer;
  expect(headers['cache-control'], 'Cache-Control').to.equal('no-store');
  expect(headers['referrer-policy'], 'Referrer-Policy').to.equal('no-referrer');
  expect(headers['x-content-type-options'], 'X-Content-Type-Options').to.equal('nosniff');
  expect(headers['content-security-policy'], 'Content-Security-Policy').to.equal(
    "default-src 'none'; frame-ancestors 'none'",
  );
  expect(headers['x-request-id'], 'X-Request-Id').to.match(/^[\w-]{8,}$/);
  expect(headers, 'what runs here').not.to.have.any.keys('server', 'x-powered-by');
}

/** An error of the specification: the status, and a JSON body with only `detail`. */
export function expectError(answer: Answer, status: number): string {
  const text = answer.body.toString();
  expect(answer.status, text).to.equal(status);
  expect(answer.headers['content-type']).to.match(/^application\/json(; ?charset=utf-8)?$/i);
  expect(answer.headers['content-length']).to.equal(String(answer.body.length));
  const body: unknown = JSON.parse(text);
  expect(body).to.have.all.keys('detail');
  expectSafeHeaders(answer);
  const detail = typeof body === 'object' && body && 'detail' in body ? body.detail : undefined;
  if (typeof detail !== 'string') throw new Error(`detail is not a string: ${text}`);
  expect(detail).to.match(/\w+ \w+/);
  return detail;
}

/** A redirect with an empty body. Returns its target. */
export function expectRedirect(answer: Answer): URL {
  expect(answer.status, answer.body.toString()).to.equal(307);
  expect(answer.body.toString()).to.equal('');
  expectSafeHeaders(answer);
  return new URL(answer.headers.location ?? 'about:blank');
}

/** The token in the redirect to the front end at `page`, which has no other parameters. */
export function expectToken(answer: Answer, page = 'https://app.example/'): string {
  const location = expectRedirect(answer);
  expect([...location.searchParams.keys()]).to.deep.equal(['access_token']);
  expect(`${location.origin}${location.pathname}${location.hash}`).to.equal(page);
  return location.searchParams.get('access_token') ?? '';
}

/** A 200 with JSON from the user path. Returns the parsed body. */
export function expectUser(answer: Answer): unknown {
  expect(answer.status, answer.body.toString()).to.equal(200);
  expect(answer.headers['content-type']).to.match(/^application\/json(; ?charset=utf-8)?$/i);
  expectSafeHeaders(answer);
  return JSON.parse(answer.body.toString());
}
