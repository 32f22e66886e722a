import { expect } from 'chai';
import type { ProviderRequest } from '../../src/upstream/client.ts';
import {
  type DeferredProviderClient,
  deferProviderClient,
} from '../../src/upstream/deferred-provider-client.ts';

const request: ProviderRequest = {
  endpoint: 'user',
  method: 'GET',
  url: 'https://provider.example/user',
  headers: {},
};

describe('a deferred provider client', () => {
  let made: number;
  let closed: number;
  let client: DeferredProviderClient;

  beforeEach(() => {
    made = 0;
    closed = 0;
    client = deferProviderClient(async () => {
      made += 1;
      return {
        call: async ({ url }) => ({ status: 200, headers: {}, body: Buffer.from(`${url}`) }),
        underWay: () => 1,
        close: () => {
          closed += 1;
        },
      };
    });
  });

  it('is made once, by the first calls', async () => {
    expect(made).to.equal(0);
    const answers = await Promise.all([
      client.call(request, () => {}),
      client.call(request, () => {}),
    ]);
    expect(answers.map(({ body }) => `${body}`)).to.deep.equal([request.url, request.url]);
    expect(made).to.equal(1);
  });

  it('is made by being prepared, and knows its calls only then', async () => {
    expect(client.underWay()).to.equal(0);
    client.prepare();
    expect(made).to.equal(1);
    await client.call(request, () => {});
    expect(made).to.equal(1);
    expect(client.underWay()).to.equal(1);
  });

  it('is made again by the next call where it could not be made', async () => {
    let attempts = 0;
    client = deferProviderClient(async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no descriptor is left');
      return {
        call: async () => ({ status: 200, headers: {}, body: Buffer.of() }),
        underWay: () => 0,
        close: () => {},
      };
    });
    const failed = await client.call(request, () => {}).catch((error: Error) => error.message);
    expect(failed).to.equal('no descriptor is left');
    expect((await client.call(request, () => {})).status).to.equal(200);
    expect(attempts).to.equal(2);
  });

  it('is closed where it was made', async () => {
    await client.call(request, () => {});
    client.close();
    await Promise.resolve();
    expect(closed).to.equal(1);
  });

  it('is not made to be closed', async () => {
    client.close();
    await Promise.resolve();
    expect(made).to.equal(0);
  });
});
