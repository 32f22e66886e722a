import { expect } from 'chai';
import { type FailureCode, failureCodes, RelayError } from '../../src/errors.ts';

describe('failures', () => {
  const errors = failureCodes.map((code) => new RelayError(code));

  it('have a different detail for each code', () => {
    expect(new Set(errors.map(({ detail }) => detail)).size).to.equal(errors.length);
  });

  it('answer with an error status', () => {
    for (const { status } of errors) expect(status).to.be.within(400, 599);
  });

  it('send WWW-Authenticate with every 401 and Retry-After with every 503', () => {
    for (const { status, headers, code } of errors) {
      expect('WWW-Authenticate' in headers, code).to.equal(status === 401);
      expect('Retry-After' in headers, code).to.equal(status === 503);
    }
  });

  it('answer with the status that the specification names', () => {
    const named: [FailureCode, number][] = [
      ['token_refused', 400],
      ['code_refused', 400],
      ['client_refused', 400],
      ['redirect_uri_refused', 400],
      ['token_endpoint_failed', 400],
      ['token_missing', 400],
      ['credentials_missing', 401],
      ['token_invalid', 401],
    ];
    for (const [code, status] of named) expect(new RelayError(code).status).to.equal(status);
  });

  it('have no part of the request in the message that a stack trace shows', () => {
    expect(new RelayError('token_refused', { detail: 'a longer text' }).message).to.equal(
      'token_refused',
    );
  });
});
