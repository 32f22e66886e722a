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

  const parsed = (text: string | undefined) => JSON.parse(/^data: (.*)\n\n$/.exec(text ?? '')?.[1] ?? '');
  const requests = (text: string | undefined) => parsed(text).map(({ request }: { request: string }) => request);

  it('no longer go to a page that is closed', () => {
    const { got, close } = follow();
    close();
    observe(start);
    expect(got).to.have.length(1);
  });

  it("of a resource are shown at the resource's own page, and not at the page of the last login", () => {
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
});
