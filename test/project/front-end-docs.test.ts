import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { failureCodes, RelayError } from '../../src/failures/relay-error.ts';
import { expectSameNames } from '../harness/expect/same-names.ts';
import { documentedSnippets } from '../harness/project/shipped-pages.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/front-end.md', root), 'utf8');

/** Failures of unregistered programs, which docs/clients.md explains. */
const ofPrograms: readonly string[] = [
  'client_expired',
  'client_document_unreachable',
  'client_document_invalid',
  'client_metadata_invalid',
  'redirect_uris_invalid',
  'consent_denied',
  'consent_exceeded',
  'navigation_required',
];

/** Failures of doors to resources, and of tokens for resources, which docs/resources.md explains. */
const ofResources: readonly string[] = [
  'resource_token_missing',
  'resource_token_invalid',
  'resource_token_expired',
  'resource_token_misplaced',
  'resource_secret_wrong',
  'machine_secret_wrong',
  'machine_assertion_invalid',
  'token_of_relay',
  'identity_too_long',
  'identity_unknown',
  'identity_unchecked',
  'host_unknown',
  'request_unknown',
  'login_needed',
  'cookie_refused',
  'cookie_unaccepted',
  'foreign_page_refused',
  'check_ineffective',
  'relay_paths_checked',
  'websocket_unsupported',
  'upstream_unreachable',
  'upstream_answer_unusable',
  'upstream_timeout',
  'streams_full',
  'upstream_refused_token',
  'upstream_refused_relay',
  'provider_token_too_long',
];

/** Failures that reach no page as a code of the relay. */
const neverACode: readonly string[] = [
  // A page gets the code of OAuth instead.
  'request_invalid',
  'response_type_unsupported',
  'scope_refused',
  'oauth_off',
  'resource_refused',
  'token_request_invalid',
  'content_type_unsupported',
  'body_too_large',
  'client_id_wrong',
  'grant_unsupported',
  'grant_invalid',
  'code_redeemed',
  'code_expired',
  'verifier_wrong',
  'proof_missing',
  'proof_invalid',
  'nonce_required',
  'key_mismatch',
  'refresh_refused',
  'refresh_reused',
  // The browser stays at the relay, or at the popup of a CMS.
  ...ofPrograms,
  ...ofResources,
  'client_unauthorized',
  'redirect_uri_unknown',
  'pkce_required',
  'cms_backend_wrong',
  'front_end_gone',
  'prefetch_refused',
  'page_unknown',
  // The answer has only a detail: /api/user, and what no route has seen.
  'provider_unknown',
  'credentials_missing',
  'credentials_malformed',
  'credentials_repeated',
  // Pages get access_denied, invalid_grant or session_refused.
  'access_refused',
  'access_ended',
  'user_record_signed',
  'not_found',
  'host_unusable',
  'request_timeout',
  'headers_too_large',
  'not_ready',
  'pipelined_too_many',
  'chunks_too_small',
  'tls_unexpected',
  'tls_missing',
  'proxy_protocol_unexpected',
  'http2_unexpected',
  'client_gone',
];

function languagesIn(manual: string) {
  const text = readFileSync(new URL(`docs/${manual}.md`, root), 'utf8');
  return [...text.matchAll(/^```(\w+)$/gm)].map(([, language]) => language);
}

/** The codes in the first column of the tables that begin with this head. */
function codesOf(head: string): readonly string[] {
  const [, table = ''] = page.split(`\n| ${head} | what happened | what to show |\n|---|---|---|\n`);
  const rows = table.split('\n\n')[0]?.split('\n') ?? [];
  return rows.flatMap((row) => {
    const [, first = ''] = row.split('|');
    return [...first.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
  });
}

/** The codes that the browser client itself makes. */
function codesOfClient(): readonly string[] {
  const folder = new URL('client/src/', root);
  const source = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  return [...source.join('').matchAll(/(?:new LoginError\(|error: )'(\w+)'/g)].map(([, code = '']) => code);
}

describe('docs/front-end.md', () => {
  it('explains exactly the codes of OAuth and of the client, each once', () => {
    const failures = failureCodes
      .filter((code) => ![...ofPrograms, ...ofResources].includes(code))
      .map((code) => new RelayError(code));
    const statuses = failures.map(({ status }) => status);
    const expected = new Set([
      ...failures.map(({ oauthError }) => oauthError),
      ...codesOfClient(),
      ...statuses.map((status) => `http_${status}`),
    ]);
    expect(codesOfClient()).to.include('network');
    expectSameNames(codesOf('`code` or `error`'), expected, 'the table with `code` or `error`');
  });

  it('explains exactly the codes of the relay that a page can get, each once', () => {
    const expected = failureCodes.filter((code) => !neverACode.includes(code));
    expect(failureCodes).to.include.members(neverACode);
    expectSameNames(codesOf('`error`'), expected, 'the table with `error`, or neverACode of this test');
  });

  it('explains the codes that client.d.ts declares', () => {
    const declaration = readFileSync(new URL('client/client.d.ts', root), 'utf8');
    const [, union = ''] = /type LoginErrorCode =(.*?);/s.exec(declaration) ?? [];
    const declared = [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
    const explained = [...codesOf('`code` or `error`'), ...codesOf('`error`')];
    const expected = explained.filter((code) => !code.startsWith('http_'));
    expectSameNames(declared, expected, 'LoginErrorCode in client/client.d.ts');
  });

  it('has only code that tests run', () => {
    expect([...documentedSnippets().keys()]).to.have.members(['page.html', 'both.js', 'end-to-end.js']);
    expect(languagesIn('front-end')).to.have.members(['html', 'js', 'js', 'yaml', 'sh']);
    expect([...documentedSnippets('http-api').keys()]).to.have.members([
      'session.js',
      'oidc-client-ts.js',
      'react-oauth2-code-pkce.js',
    ]);
    expect(languagesIn('http-api')).to.deep.equal(['js', 'js', 'js']);
  });

  it('begins with code', () => {
    expect(page).to.match(/^# Your page\n\n```html\n/);
  });
});
