import type { ServerResponse } from 'node:http';
import { openPort } from '../../../src/demo/open-port.ts';

/** What is answered to a request for a path. */
export type Reply = (response: ServerResponse) => void;

/** A server of metadata, on loopback. */
export interface Issuer {
  /** Its origin; an issuer may add a path. */
  readonly origin: string;
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** The two places where metadata may be. @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3 */
export const openIdPath = '/.well-known/openid-configuration';
export const oauthPath = '/.well-known/oauth-authorization-server';

/**
 * Starts a server that answers as the paths say, and 404 to every other path.
 *
 * @param wanted any free port, where it is 0
 */
export async function startIssuer(
  paths: (origin: string) => Readonly<Record<string, Reply>>,
  wanted = 0,
): Promise<Issuer> {
  const { port, serve, close } = await openPort(wanted, 'a test');
  const origin = `http://127.0.0.1:${port}`;
  const asked: string[] = [];
  serve(({ url = '' }, response) => {
    asked.push(url);
    (paths(origin)[url] ?? notFound)(response);
  });
  return { origin, asked, close };
}

/** Metadata that is in order, but for what is changed; undefined removes a field. */
export function metadata(
  issuer: string,
  changes: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    ...changes,
  };
}

export function json(value: unknown): Reply {
  return bytes(200, 'application/json', JSON.stringify(value));
}

export function bytes(status: number, type: string, body: string): Reply {
  return (response) => {
    response.writeHead(status, { 'Content-Type': type }).end(body);
  };
}

export function redirect(target: string, status = 301): Reply {
  return (response) => {
    response.writeHead(status, { Location: target }).end();
  };
}

const notFound = bytes(404, 'text/html', '<!doctype html><title>Not found</title>');
