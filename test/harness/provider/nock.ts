import nock from 'nock';

// The import of nock intercepts every socket of the process. Other tests need real sockets.
nock.restore();

/** Lets only nock answer the provider calls of this suite. */
export function useNock(): void {
  before(() => {
    nock.activate();
    nock.disableNetConnect();
  });
  afterEach(() => nock.cleanAll());
  after(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}

export { nock };
