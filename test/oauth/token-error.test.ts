import { expect } from 'chai';
import { explainMissingToken } from '../../src/oauth/token-error.ts';

function errorOf(status: number, body: unknown) {
  return explainMissingToken({ status, body: Buffer.from(JSON.stringify(body)) });
}

/** Texts of LinkedIn, and of Doorkeeper, which GitLab uses. They name every possible cause. */
const doorkeeper =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';
const linkedIn =
  'Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired.';

describe('a token response without a token', () => {
  const answers: Record<string, [status: number, body: object][]> = {
    code_refused: [
      [400, { error: 'invalid_grant' }],
      [400, { error: 'invalid_grant', error_description: doorkeeper }],
      [200, { error: 'bad_verification_code' }],
      [200, { ok: false, error: 'invalid_code' }],
      [200, { ok: false, error: 'code_already_used' }],
      // Gitea
      [400, { error: 'unauthorized_client', error_description: 'client is not authorized' }],
      [400, { status: 400, message: 'Invalid authorization code' }],
    ],
    client_refused: [
      [401, { error: 'invalid_client' }],
      [400, { error: 'unauthorized_client', error_description: 'invalid client secret' }],
      [200, { error: 'incorrect_client_credentials' }],
      [200, { ok: false, error: 'bad_client_secret' }],
      [200, { ok: false, error: 'invalid_client_id' }],
      [403, { status: 403, message: 'invalid client secret' }],
      [400, { status: 400, message: 'invalid client' }],
    ],
    redirect_uri_refused: [
      [200, { error: 'redirect_uri_mismatch' }],
      [200, { ok: false, error: 'bad_redirect_uri' }],
      // Discord, Gitea, Keycloak and Auth0
      [400, { error: 'invalid_grant', error_description: 'Invalid "redirect_uri" in request.' }],
      [400, { error: 'unauthorized_client', error_description: 'unexpected redirect URI' }],
      [400, { error: 'invalid_grant', error_description: 'Incorrect redirect_uri' }],
      [403, { error: 'unauthorized_client', error_description: 'The redirect URI is wrong.' }],
    ],
    token_endpoint_failed: [
      [500, {}],
      [503, { error: 'invalid_client' }],
      [429, {}],
      [400, { error: 'temporarily_unavailable' }],
      [200, { error: 'server_error' }],
      [200, { ok: false, error: 'ratelimited' }],
    ],
    token_refused: [
      [400, {}],
      [400, { error: 'invalid_request' }],
      [400, { error: 'of_its_own' }],
      [404, { message: 'Not Found' }],
      [400, { error: 'invalid_request', error_description: linkedIn }],
    ],
    token_missing: [
      [200, {}],
      [200, { error: 'of_its_own' }],
      [200, { access_token: '' }],
    ],
  };
  for (const [outcome, bodies] of Object.entries(answers)) {
    for (const [status, body] of bodies) {
      it(`is ${outcome} for ${status} ${JSON.stringify(body)}`, () => {
        const error = errorOf(status, body);
        expect(error).to.include({ code: outcome, status: 400 });
        const condition = status === 200 ? 'The access token is empty' : 'Token retrieval failed';
        expect(error.detail).to.match(new RegExp(`^${condition}: `));
      });
    }
  }

  it('names the error code only if it is on the list', () => {
    expect(errorOf(400, { error: 'invalid_grant' }).providerError).to.equal('invalid_grant');
    expect(errorOf(200, { error: 'free text' }).providerError).to.equal('other');
    for (const error of ['__proto__', 'constructor', 'other', 'INVALID_GRANT', 'a'.repeat(5000)]) {
      expect(errorOf(400, { error }).providerError, error).to.equal('other');
    }
    for (const error of ['', null, 1, {}, ['invalid_grant'], undefined]) {
      expect(errorOf(400, { error }).providerError).to.equal(undefined);
    }
  });

  it('never causes a crash, whatever the body contains', () => {
    const messages = [['constructor'], 'constructor', '__proto__', 'toString', { toString: 1 }];
    const bodies = [null, [], 'text', { error_description: {} }];
    for (const body of [...bodies, ...messages.map((message) => ({ message }))]) {
      expect(errorOf(400, body).code, JSON.stringify(body)).to.equal('token_refused');
    }
  });
});

describe('a refresh without a token', () => {
  const refreshError = (status: number, body: unknown) =>
    explainMissingToken({ status, body: Buffer.from(JSON.stringify(body)) }, 'refresh_token').code;

  for (const [status, body] of [
    // Withings, with status 200 whatever happens
    [200, { status: 601, body: {}, error: 'Too Many Requests' }],
    [200, { status: 522, body: {}, error: 'Timeout' }],
    // WeChat, if it is busy; Lark
    [200, { errcode: -1, errmsg: 'system error, hints: [ req_id: x ]' }],
    [200, { code: 20050, msg: 'internal error, please try again later' }],
    // Salesforce
    [400, { error: 'unknown_error', error_description: 'retry your request' }],
    // AWS
    [400, { __type: 'TooManyRequestsException', message: 'Rate exceeded' }],
    [400, { __type: 'ThrottlingException' }],
    [400, { error: 'slow_down' }],
    // Gateways
    [400, { error: 'timeout' }],
    [400, { error: { message: 'upstream request timeout' } }],
    [401, { message: 'API rate limit exceeded' }],
    [400, { errors: [{ errorType: 'system', message: 'Service is temporarily unavailable' }] }],
    [400, { error: { message: 'Service temporarily unavailable', type: 'OAuthException', code: 2 } }],
  ] as const) {
    it(`keeps its login: ${status} ${JSON.stringify(body)}`, () => {
      expect(refreshError(status, body)).to.equal('token_endpoint_failed');
    });
  }

  for (const [status, body] of [
    [400, { error: 'invalid_grant', error_description: 'The token has timed out. Please try again later.' }],
    [400, { error: 'invalid_grant', error_description: 'Token is temporarily blocked' }],
    [401, { error: 'other', error_description: 'Session timed out long ago, please log in' }],
    [200, { error: 'Invalid refresh token' }],
    [200, { errcode: 40030, errmsg: 'invalid refresh_token, hints: [ req_id: x ]' }],
    [200, { code: 20026, msg: 'refresh token expired' }],
    [400, { status: 'BAD_REFRESH_TOKEN', message: 'missing or invalid refresh token' }],
    [400, { errorCode: 'E0000011', errorSummary: 'Invalid token provided' }],
    [401, { message: 'Unauthorized' }],
    [400, {}],
  ] as const) {
    it(`ends its login: ${status} ${JSON.stringify(body)}`, () => {
      expect(refreshError(status, body)).to.equal('refresh_refused');
    });
  }
});
