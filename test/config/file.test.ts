import { expect } from 'chai';
import type { ConfigFile } from '../../src/config/file/config-file.ts';
import { describeEntry, describeSetting } from '../../src/config/file/describe.ts';
import { parseConfigFile } from '../../src/config/file/parse.ts';

function parsed(text: string, path = 'config.yaml'): ConfigFile {
  const result = parseConfigFile(text, path);
  if ('faults' in result) throw new Error(result.faults.join('\n'));
  return result.file;
}

function faultsOf(text: string): readonly string[] {
  const result = parseConfigFile(text, 'config.yaml');
  return 'faults' in result ? result.faults : [];
}

const team = `
base-url: https://login.example.com
providers:
  github: { client-id: Ov23li, client-secret-file: github }
  staff:
    issuer: https://id.example.com
    scope: [openid, email]
front-ends:
  app: { origin: https://app.example.com, redirect-uris: [https://app.example.com/in] }
  blog: { origin: https://blog.example.com, providers: [github], scope: repo user }
`;

describe('the configuration file', () => {
  it('has settings of the relay, and entries of providers and front ends in order', () => {
    const { relay, providers, frontEnds } = parsed(team);
    expect(relay.values).to.deep.equal({ baseUrl: ['https://login.example.com'] });
    expect(providers?.map(({ name, values }) => [name, values])).to.deep.equal([
      ['github', { clientId: ['Ov23li'], clientSecretFile: ['./github'] }],
      ['staff', { issuer: ['https://id.example.com'], scope: ['openid email'] }],
    ]);
    expect(frontEnds?.map(({ name, values }) => [name, values])).to.deep.equal([
      ['app', { origin: ['https://app.example.com'], redirectUri: ['https://app.example.com/in'] }],
      [
        'blog',
        { origin: ['https://blog.example.com'], providers: ['github'], scope: ['repo user'] },
      ],
    ]);
  });

  it('names each setting with its line and column, and a missing one with those of its entry', () => {
    const file = parsed(team);
    const [github, staff] = file.providers ?? [];
    expect(describeSetting(file, undefined, 'baseUrl')).to.equal('config.yaml:2:1 base-url');
    expect(describeSetting(file, undefined, 'port')).to.equal('config.yaml port');
    expect(describeSetting(file, staff, 'scope')).to.equal('config.yaml:7:5 providers.staff.scope');
    expect(describeSetting(file, github, 'scope')).to.equal(
      'config.yaml:4:3 providers.github.scope',
    );
    expect(github && describeEntry(file, github)).to.equal('config.yaml:4:3 providers.github');
  });

  it('reports all faults of its form, in order', () => {
    expect(faultsOf('prot: 1\nport: [1]\norigin: x\n')).to.deep.equal([
      'config.yaml:1:1 prot is unknown: did you mean port?',
      'config.yaml:2:1 port must be one value, not a list',
      'config.yaml:3:1 origin belongs to a front end: move it into an entry of front-ends',
    ]);
  });
});
