import { expect } from 'chai';
import { type FailureCode, RelayError } from '../../../src/failures/relay-error.ts';
import type { Page } from '../browser/fake-browser.ts';
import type { Answer } from '../client/http-client.ts';
import { baseUrl } from '../relay/relay-under-test.ts';
import { expectError } from './expectations.ts';

/** Checks for a JSON answer with this failure, its status and its headers. */
export function expectFailure(answer: Answer, code: FailureCode, detail: string = new RelayError(code).detail): void {
  const { status, headers } = new RelayError(code);
  expect(expectError(answer, status)).to.equal(detail);
  for (const [name, value] of Object.entries(headers)) {
    expect(answer.headers[name.toLowerCase()], name).to.equal(value);
  }
}

/** Checks that a visit ended with this failure of the relay. */
export function expectFailedVisit(page: Page, code: FailureCode, detail?: string): void {
  expectFailure(page, code, detail);
  expect(page.url.origin).to.equal(baseUrl);
}
