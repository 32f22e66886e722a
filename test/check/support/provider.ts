import { expect } from 'chai';
import type { Finding } from '../../../src/check/finding.ts';
import { metadata } from '../../harness/provider/metadata.ts';
import type { Page, PageRequest } from '../../harness/provider/pages.ts';
import { html, json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { registration } from '../../harness/relay/relay-under-test.ts';
import { clientSecret, diagnoseHere, type Result } from './check.ts';

/** The response of each endpoint, and of other paths, such as metadata. */
export interface Endpoints {
  authorize: Page;
  token: Page;
  user: Page;
  metadata: Page;
}

/** Answers in this way, but refuses a client with another secret. */
export function knowingTheClient(page: Page): Page {
  return (response, request) => {
    const { headers, url, body } = request;
    const basic = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
    const isKnown = `${basic} ${url.search} ${body}`.includes(clientSecret);
    (isKnown ? page : json({ error: 'invalid_client' }, 401))(response, request);
  };
}

/** The metadata of the requested provider, with these changes. */
export function metadataWith(changes: (issuer: string) => Record<string, unknown> = () => ({})): Page {
  return (response, { url: { origin } }) => {
    const own = { userinfo_endpoint: `${origin}/user`, ...changes(origin) };
    json(metadata(origin, own))(response);
  };
}

/** A provider that knows the client, and refuses only the code, as RFC 6749 says. */
const healthy: Endpoints = {
  authorize: redirect('/login'),
  token: knowingTheClient(json({ error: 'invalid_grant' }, 400)),
  user: json({ error: 'invalid_token' }, 401),
  metadata: html(404, 'Not found'),
};

/** A provider with these answers, which does not listen. */
export function providerWith(changes: Partial<Endpoints>): StrictProvider {
  const { authorize, token, user, metadata } = { ...healthy, ...changes };
  const pages = { '/authorize': authorize, '/token': token, '/user': user, '*': metadata };
  return new StrictProvider(registration(), pages);
}

/** Flags that name the three endpoints at an address. */
export function endpointsAt(address: string): Flags {
  return {
    'authorize-url': `${address}/authorize`,
    'token-url': `${address}/token`,
    'user-url': `${address}/user`,
    'token-request': 'body',
  };
}

/** Runs the task with a provider with these answers, and flags that name its endpoints. */
export async function withProvider<T>(
  changes: Partial<Endpoints>,
  task: (flags: Flags, requests: readonly PageRequest[], address: string) => Promise<T>,
): Promise<T> {
  const provider = providerWith(changes);
  await provider.listen();
  try {
    return await task(endpointsAt(provider.origin), provider.pageRequests, provider.origin);
  } finally {
    await provider.stop();
  }
}

/** The findings of `login-relay check` with these flags at a provider with these answers. */
export async function diagnoseWith(
  changes: Partial<Endpoints>,
  more: Flags = {},
  secret = clientSecret,
): Promise<Result> {
  return await withProvider(changes, (flags) => diagnoseHere({ flags: { ...flags, ...more }, secret }));
}

/** The findings at an issuer with this metadata and these answers. `more` gets the address of the issuer. */
export async function diagnoseIssuer(
  metadata: Page,
  more: (issuer: string) => Flags = () => ({}),
  changes: Partial<Endpoints> = {},
): Promise<Result> {
  return await withProvider({ ...changes, metadata }, (_flags, _requests, issuer) =>
    diagnoseHere({ flags: { issuer, ...more(issuer) } }),
  );
}

/** An answer of a provider, and the finding and advice that `login-relay check` must give. */
type Answers = Readonly<Record<string, readonly [page: Page, message: RegExp, fix?: RegExp]>>;

/**
 * Declares a test for each answer of an endpoint: `login-relay check` has this verdict on it, and no other complaint.
 *
 * @param title has the name of the answer in place of `…`
 */
export function itFinds(
  endpoint: keyof Endpoints,
  [subject, verdict, usualFix = /^/]: readonly [string, Finding['verdict'], RegExp?],
  title: string,
  answers: Answers,
): void {
  for (const [name, [page, message, fix = usualFix]] of Object.entries(answers)) {
    it(title.replace('…', name), async () => {
      const result = await diagnoseWith({ [endpoint]: page });
      const finding = result.finding(subject);
      expect(finding.verdict).to.equal(verdict);
      expect(finding.message).to.match(message);
      expect(finding.fix ?? '').to.match(fix);
      expect(result.code).to.equal(verdict === 'problem' ? 1 : 0);
      const isComplaint = verdict === 'problem' || verdict === 'warning';
      expect(result.complaints).to.have.length(isComplaint ? 1 : 0);
    });
  }
}
