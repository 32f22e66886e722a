import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { createSteps, type Steps } from '../../src/demo/steps.ts';
import type { RequestRecord } from '../../src/observability/request-log.ts';
import { probeRecord } from '../harness/expect/request-record.ts';

const start = { action: 'start', route: '/auth/provider', status: 307, frontEnd: 'app' } as const;
const lookup = { action: 'user', route: '/api/user' } as const;

describe('the steps that the demo shows', () => {
  let steps: Steps;

  beforeEach(() => {
    steps = createSteps();
  });

  const observe = (more: Partial<RequestRecord>) => steps.observe({ ...probeRecord, ...more });

  /** The texts of what a page has got, the latest last. */
  function follow() {
    const got: string[] = [];
    const response = Object.assign(new EventEmitter(), { write: (text: string) => got.push(text) });
    steps.follow(response);
    return { got, close: () => response.emit('close') };
  }

  const parsed = (text: string | undefined) =>
    JSON.parse(/^data: (.*)\n\n$/.exec(text ?? '')?.[1] ?? '');
  const requests = (text: string | undefined) =>
    parsed(text).map(({ request }: { request: string }) => request);

  it('no longer go to a page that is closed', () => {
    const { got, close } = follow();
    close();
    observe(start);
    expect(got).to.have.length(1);
  });

  it('begin anew with each login', () => {
    observe(start);
    observe(lookup);
    observe(start);
    expect(requests(follow().got[0])).to.deep.equal(['GET /auth/provider']);
  });

  it('of a resource are shown at its own page, not at that of the last login', () => {
    observe(start);
    observe({ action: 'check', route: '/auth/check/notes', resource: 'notes' });
    observe(lookup);
    const pages = parsed(follow().got[0]).map((step: { frontEnd: string }) => step.frontEnd);
    expect(pages).to.deep.equal(['app', 'notes', 'app']);
  });

  it('are 30 at most', () => {
    for (let count = 0; count < 40; count += 1) observe(lookup);
    expect(requests(follow().got[0])).to.have.length(30);
  });

  it('leave out preflights, probes, scripts and unknown addresses', () => {
    observe({ method: 'OPTIONS', action: 'token', route: null, status: 204 });
    for (const action of ['probe', 'client', undefined] as const) observe({ action });
    expect(parsed(follow().got[0])).to.deep.equal([]);
  });

  it('say what happened, for which front end, and what the provider answered', () => {
    const provider = { endpoint: 'user', outcome: 'answered', status: 401, durationMs: 1 } as const;
    observe({ ...start, route: '/auth/provider/:frontEnd' });
    observe({ ...lookup, status: 401, outcome: 'token_invalid', provider });
    expect(parsed(follow().got[0])).to.deep.equal([
      {
        request: 'GET /auth/provider/app',
        status: 307,
        effect: 'on to the provider',
        frontEnd: 'app',
        failed: false,
      },
      {
        request: 'GET /api/user',
        status: 401,
        effect: 'The access token is invalid: the provider did not accept it. Log in again.',
        call: 'provider’s user endpoint: 401',
        frontEnd: 'app',
        failed: true,
      },
    ]);
  });
});
