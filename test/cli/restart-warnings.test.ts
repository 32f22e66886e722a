import { expect } from 'chai';
import { findRestartWarnings } from '../../src/cli/reload.ts';
import { readFileConfig } from '../config/support/read.ts';

const provider = `providers:
  github: { client-id: a, client-secret: b }
`;

function warnings(before: string, after: string, hasSocket = false): readonly string[] {
  return findRestartWarnings(configWith(before), configWith(after), hasSocket);
}

function configWith(settings: string) {
  const frontEnds = settings.includes('front-ends:') ? '' : frontEndWith('code');
  return readFileConfig(`base-url: http://localhost:8000\n${provider}${frontEnds}${settings}\n`).config;
}

function frontEndWith(tokenDelivery: string): string {
  return `front-ends:
  app: { origin: "http://localhost:5173", token-delivery: ${tokenDelivery} }
`;
}

describe('the warnings of a reload', () => {
  for (const [setting, flag] of [
    ['port: 9000', '--port (PORT)'],
    ['host: "::1"', '--host (HOST)'],
    ['max-connections: 100', '--max-connections (MAX_CONNECTIONS)'],
    ['metrics-port: 9000', '--metrics-port (METRICS_PORT)'],
    ['log-level: debug', '--log-level (LOG_LEVEL)'],
    ['log-format: json', '--log-format (LOG_FORMAT)'],
  ] as const) {
    it(`name ${flag} if it has changed`, () => {
      expect(warnings('', setting)).to.deep.equal([`${flag} has changed: restart the relay to use it`]);
      expect(warnings(setting, setting)).to.deep.equal([]);
    });
  }

  it('leave out port and host if systemd passes the socket', () => {
    expect(warnings('', 'port: 9000\nhost: "::1"', true)).to.deep.equal([]);
  });

  it('name --metrics-host if metrics stay on', () => {
    const ofHost = (host: string) => `metrics-port: 9000\nmetrics-host: "${host}"`;
    expect(warnings(ofHost('127.0.0.1'), ofHost('::1'))).to.deep.equal([
      '--metrics-host (METRICS_HOST) has changed: restart the relay to use it',
    ]);
  });

  it('name --metrics-names if they differ', () => {
    const ofNames = (names: string) => `metrics-port: 9000\nmetrics-names: [${names}]`;
    expect(warnings(ofNames('a.example'), ofNames('a.example, b.example'))).to.deep.equal([
      '--metrics-names (METRICS_NAMES) has changed: restart the relay to use it',
    ]);
    expect(warnings(ofNames('a.example'), ofNames('a.example'))).to.deep.equal([]);
  });

  it('name no setting that a reload changes', () => {
    expect(warnings('', 'rate-limit: 10\nsession-idle: 1')).to.deep.equal([]);
  });

  it('name the first front end with sessions, but not a further front end with sessions', () => {
    const sessions = frontEndWith('session');
    expect(warnings('', sessions)).to.deep.equal([
      'a front end has sessions now, or a resource opens to browsers: restart the relay to make room for cookies',
    ]);
    expect(warnings(sessions, sessions)).to.deep.equal([]);
    expect(warnings(sessions, '')).to.deep.equal([]);
  });
});
