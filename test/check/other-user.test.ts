import { expect } from 'chai';
import { diagnose } from '../../src/check/diagnose.ts';
import { diagnoseLogin } from '../../src/check/login/check-login.ts';
import type { TextFile } from '../../src/text-files.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { issueCertificate } from '../harness/system/certificate.ts';
import { freePort } from '../harness/system/free-port.ts';
import { clientSecret } from './support/check.ts';
import { knowingTheClient, metadataWith, withProvider } from './support/provider.ts';

const config = '/etc/login-relay/config.yaml';
const secret = '/etc/login-relay/secret';
const keyFile = '/etc/login-relay/key';
const healthy = knowingTheClient(json({ error: 'invalid_grant' }, 400));

/** The content of each file, or the code of the error that reading it gives. */
type Files = Readonly<Record<string, string | { readonly code: string }>>;

interface Situation {
  readonly more?: string;
  readonly files?: Files;
  /** Whether an issuer describes the endpoints. */
  readonly isDescribed?: boolean;
  /** Gets the address of the login that the check waits for, and stops it. */
  readonly withLogin?: (said: string) => void;
}

/** The findings of `login-relay check` on a machine with these files, and the number of its token requests. */
async function check({ more, files, isDescribed, withLogin }: Situation) {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const provider = { token: healthy, metadata: metadataWith() };
  return await withProvider(provider, async (_, requests, address) => {
    const endpoints = `
    authorize-url: ${address}/authorize
    token-url: ${address}/token
    user-url: ${address}/user
    token-request: body`;
    const all: Files = {
      [config]: `base-url: ${more?.includes('tls-cert:') ? nowhere.replace('http:', 'https:') : nowhere}
${more ?? `key-file: ${keyFile}`}
providers:
  one:${isDescribed ? `\n    issuer: ${address}` : endpoints}
    client-id: client-1
    ${files?.[secret] === '' ? '' : `client-secret-file: ${secret}`}
front-ends:
  app: { origin: ${nowhere} }
`,
      [secret]: clientSecret,
      [keyFile]: 'the line of a key file with 32 characters or more',
      ...files,
    };
    const readFile = (path: string): TextFile => {
      const file = all[path] ?? { code: 'ENOENT' };
      if (typeof file !== 'string') throw Object.assign(new Error(path), file);
      return { text: file, readableByOthers: false };
    };
    const sources = { flags: { config: [config] }, environment: {} };
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const say = (text: string) => {
      withLogin?.(text);
      stop();
    };
    const { report, code } = withLogin
      ? await diagnoseLogin(sources, undefined, { say, stopped }, readFile)
      : await diagnose(sources, readFile);
    const tokenRequests = requests.filter(({ url }) => url.pathname === '/token').length;
    return { findings: report.findings, code, tokenRequests };
  });
}

describe('login-relay check, by a user who cannot read everything', () => {
  const unreadable = { code: 'EACCES' };

  it('does not ask the token endpoint without the client secret, and examines the rest', async () => {
    const { findings, code, tokenRequests } = await check({ files: { [secret]: unreadable } });
    const [unseen] = findings;
    expect(unseen).to.include({ subject: 'configuration', verdict: 'not_checked' });
    expect(unseen?.message).to.equal(
      `${config}:10:5 providers.one.client-secret-file names a file that this user may not read`,
    );
    expect(unseen?.fix).to.match(/as root, or as the user of the relay/);
    expect(findings).to.deep.include({
      subject: 'token endpoint (one)',
      verdict: 'not_checked',
      message: 'not asked: this command does not have the client secret',
      fix: null,
    });
    expect(tokenRequests).to.equal(0);
    const verdicts = new Map(findings.map(({ subject, verdict }) => [subject, verdict]));
    expect(verdicts.get('user lookup (one)')).to.equal('ok');
    expect(verdicts.get('front end (app)')).to.equal('warning');
    expect(code).to.equal(0);
  });

  it('examines what an issuer describes without the client secret', async () => {
    const files = { [secret]: unreadable };
    const { findings, code, tokenRequests } = await check({ files, isDescribed: true });
    const verdicts = new Map(findings.map(({ subject, verdict }) => [subject, verdict]));
    expect(verdicts.get('discovery (one)')).to.equal('ok');
    expect(verdicts.get('token endpoint (one)')).to.equal('not_checked');
    expect(tokenRequests).to.equal(0);
    expect(code).to.equal(0);
  });

  it('names the systemd credential that the service may have', async () => {
    const { findings, tokenRequests } = await check({ files: { [secret]: '' } });
    expect(findings[0]).to.deep.equal({
      subject: 'configuration',
      verdict: 'not_checked',
      message: `${config}:4:3 providers.one.client-secret-file is not given`,
      fix: 'give it, unless the service has the systemd credential one-client-secret',
    });
    expect(tokenRequests).to.equal(0);
  });

  it('goes on without the key file', async () => {
    const { findings, tokenRequests } = await check({ files: { [keyFile]: unreadable } });
    expect(findings[0]?.message).to.equal(`${config}:2:1 key-file names a file that this user may not read`);
    expect(findings.find(({ subject }) => subject === 'token endpoint (one)')?.verdict).to.equal('ok');
    expect(tokenRequests).to.be.above(0);
  });

  it('does not ask the shared memory without its password', async () => {
    const password = '/etc/login-relay/password';
    const memory = `shared-memory: redis://127.0.0.1:${await freePort()}`;
    const more = `key-file: ${keyFile}\n${memory}\nshared-memory-password-file: ${password}`;
    const { findings, code } = await check({ more, files: { [password]: unreadable } });
    expect(findings).to.deep.include({
      subject: 'shared memory',
      verdict: 'not_checked',
      message: 'not asked: this command does not have its password or certificates',
      fix: null,
    });
    expect(code).to.equal(0);
  });

  it('goes on before the service has its state directory', async () => {
    const missing = '/var/lib/no-such-directory-of-a-relay/key';
    const { findings, code } = await check({ more: `key-file: ${missing}` });
    const [will, unseen] = findings;
    expect(will?.message).to.contain(`serve will create ${missing}`);
    expect(unseen).to.include({ verdict: 'not_checked' });
    expect(unseen?.message).to.contain('in a directory that does not exist');
    expect(code).to.equal(0);
  });

  it('finds a fault in a missing directory that is not for state', async () => {
    const { code } = await check({ more: 'key-file: /etc/no-such-directory-of-a-relay/key' });
    expect(code).to.equal(2);
  });

  it('waits for no login without the client secret, and says how to give it', async () => {
    const said: string[] = [];
    const files = { [secret]: { code: 'EACCES' } };
    const { findings, code } = await check({ files, withLogin: (text) => void said.push(text) });
    const found = findings.find(({ subject }) => subject === 'login');
    expect(found?.message).to.contain('needs the client secret');
    expect(found?.fix).to.match(/as root, .*systemd credential .*client-secret-file$/);
    expect([code, said]).to.deep.equal([1, []]);
  });

  it('does not wait for a login if it cannot read the key of its certificate, because it would listen without TLS', async () => {
    const said: string[] = [];
    const tls = '/etc/login-relay/tls.pem';
    const more = `key-file: ${keyFile}\nport: ${await freePort()}\ntls-cert: ${tls}\ntls-key: /etc/login-relay/tls-key`;
    const files = { [tls]: (await issueCertificate('localhost')).cert, '/etc/login-relay/tls-key': unreadable };
    const { findings, code } = await check({ files, more, withLogin: (text) => void said.push(text) });
    expect(findings.map(({ message }) => message).join()).to.contain('key of the certificate');
    expect([code, said]).to.deep.equal([1, []]);
  });

  it('waits for a login without the key file, which that does not need', async () => {
    const said: string[] = [];
    const files = { [keyFile]: { code: 'EACCES' } };
    const { findings } = await check({
      files,
      more: `key-file: ${keyFile}\nport: ${await freePort()}`,
      withLogin: (text) => void said.push(text),
    });
    expect(findings.find(({ subject }) => subject === 'login')?.message).to.equal('stopped before a login came back');
    expect(said.join('')).to.contain('/auth/one/check-');
  });
});
