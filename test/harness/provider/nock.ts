import nock from 'nock';

// Importing nock takes over every socket of the process: real sockets are for the other tests.
nock.restore();

/** Lets nock, and nothing else, answer the provider calls of this suite. */
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
