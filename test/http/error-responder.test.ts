import { expect } from 'chai';
import Koa from 'koa';
import { createFailureAnswer } from '../../src/delivery/failure-page.ts';
import { createPages } from '../../src/delivery/pages.ts';
import { RelayError } from '../../src/failures/relay-error.ts';
import type { RequestState } from '../../src/http/context.ts';
import { answerJson, errorResponder } from '../../src/http/error-responder.ts';
import { responseHeaders } from '../../src/http/response-headers.ts';
import { createReadiness } from '../../src/routes/health.ts';
import { navigation } from '../harness/browser/fake-browser.ts';
import { type Answer, send } from '../harness/client/http-client.ts';
import { expectError } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { serve } from '../harness/provider/serve.ts';

describe('an unexpected error', () => {
  async function answerOf(answerFailure: Parameters<typeof errorResponder>[0]): Promise<Answer> {
    const app = new Koa<RequestState>({ env: 'production' });
    app.use(responseHeaders(createReadiness([])));
    app.use(errorResponder(answerFailure));
    app.use(() => {
      throw new Error('with <b>a secret</b> in its message');
    });
    const server = await serve(app.callback());
    try {
      return await send(server.port, { path: '/', headers: navigation });
    } finally {
      await server.close();
    }
  }
  const { detail } = new RelayError('internal_error');

  it('is answered as JSON, without its message', async () => {
    expect(expectError(await answerOf(answerJson), 500)).to.equal(detail);
  });

  it('is answered as a page, without its message', async () => {
    const targets = {
      pages: createPages(),
      loginUrl: 'https://relay.example/auth/provider',
      origin: 'https://app.example',
      frontendUrl: 'https://app.example/',
      peekLogin: () => undefined,
    };
    const page = expectFailurePage(await answerOf(createFailureAnswer(targets)), 500);
    expect(page.detail).to.equal(detail);
    expect(page.heading).to.equal('Login failed');
  });
});
