import type { Contender } from './contender.ts';

/** No server at all: clients ask the provider themselves, on connections that they keep. */
export const direct: Contender = {
  name: 'the provider itself',
  kind: 'limit',
  workloads: ['user-lookup', 'distant-lookup'],
  missing: () => undefined,
  async start(provider, distance) {
    const address = provider[distance];
    const paths = { loginPath: '/authorize', userPath: '/user' };
    return {
      target: { address, ...paths, protection: false, provider: address },
      pid: undefined,
      stop: async () => {},
    };
  },
};
