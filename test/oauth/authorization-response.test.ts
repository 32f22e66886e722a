import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { authorizationCode } from '../../src/oauth/authorization-response.ts';
import { parseQuery } from '../../src/oauth/query.ts';

const issuer = 'https://provider.example';

const codeOf = (query: string) => authorizationCode(parseQuery(query), { issuer });

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
    for (const query of ['', 'code', 'code=', 'Code=a', 'state=a']) {
      expect(failureOf(query).code, query).to.equal('code_missing');
    }
  });

  it('is refused with a code that is too long', () => {
    expect(codeOf(`code=${'a'.repeat(4096)}`)).to.have.length(4096);
    expect(failureOf(`code=${'a'.repeat(4097)}`).code).to.equal('code_too_long');
  });

  it('is refused with a code that cannot be decoded exactly', () => {
    const values = ['%', 'a%4', '%zz', '%FF', 'a%C3', '%ED%A0%80', 'a\u{e9}', 'a b'];
    for (const value of values) {
      expect(failureOf(`code=${value}`).code, value).to.equal('code_malformed');
    }
    expect(codeOf('code=a+b%2B%EF%BF%BD')).to.equal('a b+\u{FFFD}');
  });

  it('is refused if a parameter is repeated, even with the same value', () => {
    for (const query of [
      ...['code=a&code=a', 'code=a&code=', 'error=a&error=b'],
      ...['code=a&iss=b&iss=b', 'code=a&c%6Fde=b'],
    ]) {
      expect(failureOf(query).code, query).to.equal('parameter_repeated');
    }
  });

  it('is refused with the provider’s error, which is named only if it is a known code', () => {
    expect(failureOf('error=access_denied').code).to.equal('access_denied');
    expect(failureOf('error=server_error').code).to.equal('authorization_refused');
    expect(failureOf('error=server_error').detail).to.include('server_error');
    for (const query of [
      'error=canary',
      'error=',
      'error=%0d%0aX&error_description=canary',
      'error=x&code=y',
    ]) {
      expect(failureOf(query).code, query).to.equal('authorization_refused');
      expect(failureOf(query).detail, query).to.equal(
        new RelayError('authorization_refused').detail,
      );
    }
  });

  it('is a cancelled login for each error code with that meaning', () => {
    for (const error of [
      'access_denied',
      'consent_required',
      'user_cancelled_login',
      'user_cancelled_authorize',
    ]) {
      expect(failureOf(`error=${error}`).code).to.equal('access_denied');
      expect(failureOf(`error=${error}`).providerError).to.equal(error);
    }
  });

  it('is a wrong callback URL for each error code with that meaning', () => {
    for (const error of ['redirect_uri_mismatch', 'bad_redirect_uri']) {
      expect(failureOf(`error=${error}`).code).to.equal('redirect_uri_refused');
      expect(failureOf(`error=${error}`).detail)
        .to.include('callback URL')
        .and.include(error);
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
    const other = encodeURIComponent('https://provider.example/');
    expect(failureOf(`code=a&iss=${other}`).code).to.equal('issuer_mismatch');
    expect(failureOf(`error=server_error&iss=${other}`).code).to.equal('issuer_mismatch');
    for (const iss of ['', 'https://Provider.example', 'https://provider.example.evil.example']) {
      expect(failureOf(`code=a&iss=${encodeURIComponent(iss)}`).code).to.equal('issuer_mismatch');
    }
    expect(codeOf(`code=a&iss=${encodeURIComponent(issuer)}`)).to.equal('a');
    expect(codeOf('code=a')).to.equal('a');
  });

  it('is accepted with any iss if the issuer is not known', () => {
    expect(authorizationCode(parseQuery('code=a&iss=b'), {})).to.equal('a');
  });

  it('is refused without iss if the provider always sends one', () => {
    const expected = { issuer, issRequired: true };
    expect(() => authorizationCode(parseQuery('code=a'), expected))
      .to.throw(RelayError)
      .with.property('code', 'issuer_missing');
    const named = `code=a&iss=${encodeURIComponent(issuer)}`;
    expect(authorizationCode(parseQuery(named), expected)).to.equal('a');
  });
});
