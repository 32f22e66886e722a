import { expect } from 'chai';
import { failureCodes, RelayError } from '../../src/failures/relay-error.ts';

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
    const exchange = ['token_refused', 'code_refused', 'client_refused', 'redirect_uri_refused'] as const;
    for (const code of [...exchange, 'token_endpoint_failed', 'token_missing'] as const) {
      expect(new RelayError(code).status, code).to.equal(400);
    }
    for (const code of ['credentials_missing', 'token_invalid'] as const) {
      expect(new RelayError(code).status, code).to.equal(401);
    }
  });

  it('have no part of the request in the message that a stack trace shows', () => {
    expect(new RelayError('token_refused', { detail: 'a longer text' }).message).to.equal('token_refused');
  });
});
