import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { requireCode } from '../../src/oauth/authorization-response.ts';
import { parseQuery } from '../../src/oauth/query.ts';

const issuer = 'https://provider.example';
const named = `code=a&iss=${encodeURIComponent(issuer)}`;

const codeOf = (query: string) => requireCode(parseQuery(query), { issuer });

function failureOf(query: string): RelayError {
  try {
    codeOf(query);
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
  throw new Error(`accepted: ${query}`);
}

describe('the authorization response', () => {
  it('is refused without a code', () => {
    for (const query of ['code', 'code=', 'Code=a', 'state=a', 'setup_action=other']) {
      expect(failureOf(query).code, query).to.equal('code_missing');
    }
    expect(failureOf('').code).to.equal('query_missing');
    expect(failureOf('setup_action=install&installation_id=1').code).to.equal('app_installed');
    expect(failureOf('setup_action=request&state=a').code).to.equal('app_requested');
  });

  it('is refused with a code that is too long', () => {
    expect(codeOf(`code=${'a'.repeat(4096)}`)).to.have.length(4096);
    expect(failureOf(`code=${'a'.repeat(4097)}`).code).to.equal('code_too_long');
  });

  it('is refused with a code that cannot be decoded exactly', () => {
    for (const value of ['%', 'a%4', '%zz', '%FF', 'a%C3', '%ED%A0%80', 'a\u{e9}', 'a b']) {
      expect(failureOf(`code=${value}`).code, value).to.equal('code_malformed');
    }
    expect(codeOf('code=a+b%2B%EF%BF%BD')).to.equal('a b+\u{FFFD}');
  });

  it('is refused if a parameter is repeated, even with the same value', () => {
    for (const query of ['code=a&code=a', 'code=a&code=', 'error=a&error=b', 'code=a&iss=b&iss=b', 'code=a&c%6Fde=b']) {
      expect(failureOf(query).code, query).to.equal('parameter_repeated');
    }
  });

  it('is refused with the provider’s error, which is named only if it is a known code', () => {
    expect(failureOf('error=access_denied').code).to.equal('access_denied');
    expect(failureOf('error=server_error').code).to.equal('authorization_refused');
    expect(failureOf('error=server_error').detail).to.include('server_error');
    const { code, detail } = new RelayError('authorization_refused');
    const injected = 'error=%0d%0aX&error_description=canary';
    for (const query of ['error=canary', 'error=', injected, 'error=x&code=y']) {
      expect(failureOf(query), query).to.include({ code, detail });
    }
  });

  it('is a cancelled login for each error code with that meaning', () => {
    for (const providerError of [
      'access_denied',
      'consent_required',
      'user_cancelled_login',
      'user_cancelled_authorize',
    ]) {
      const failure = failureOf(`error=${providerError}`);
      expect(failure).to.include({ code: 'access_denied', providerError });
    }
  });

  it('is a wrong callback URL for each error code with that meaning', () => {
    for (const error of ['redirect_uri_mismatch', 'bad_redirect_uri']) {
      const { code, detail } = failureOf(`error=${error}`);
      expect(code).to.equal('redirect_uri_refused');
      expect(detail).to.include('callback URL').and.include(error);
    }
  });

  it('names the error code for the log only if it is on the list', () => {
    expect(failureOf('error=server_error').providerError).to.equal('server_error');
    expect(failureOf('error=login_required').providerError).to.equal('login_required');
    for (const error of ['canary', 'constructor', '__proto__', '%0d%0aX']) {
      expect(failureOf(`error=${error}`).providerError, error).to.equal('other');
    }
    expect(failureOf('error=').providerError).to.equal(undefined);
    expect(failureOf('state=a').providerError).to.equal(undefined);
  });

  it('is refused from another issuer, even with an error', () => {
    for (const iss of ['', `${issuer}/`, 'https://Provider.example', `${issuer}.evil.example`]) {
      for (const answer of ['code=a', 'error=server_error']) {
        const { code } = failureOf(`${answer}&iss=${encodeURIComponent(iss)}`);
        expect(code, iss).to.equal('issuer_mismatch');
      }
    }
    expect(codeOf(named)).to.equal('a');
    expect(codeOf('code=a')).to.equal('a');
  });

  it('is accepted with any iss if the issuer is not known', () => {
    expect(requireCode(parseQuery('code=a&iss=b'), {})).to.equal('a');
  });

  it('is refused without iss if the provider always sends one', () => {
    const expected = { issuer, issRequired: true };
    expect(() => requireCode(parseQuery('code=a'), expected))
      .to.throw(RelayError)
      .with.property('code', 'issuer_missing');
    expect(requireCode(parseQuery(named), expected)).to.equal('a');
  });
});
