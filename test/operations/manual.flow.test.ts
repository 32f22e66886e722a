import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { failureCodes } from '../../src/failures/relay-error.ts';
import { providerErrorCodes } from '../../src/providers/error-codes.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectSameNames } from '../harness/expect/same-names.ts';
import { requestToken } from '../harness/login/oauth-front-end.ts';
import { answer, json, reset } from '../harness/provider/provider-behaviours.ts';
import type { LogLine } from '../harness/relay/relay-process.ts';
import {
  callbackPath,
  keyFile,
  loginPath,
  type RelayUnderTest,
  startRelay,
} from '../harness/relay/relay-under-test.ts';
import { MemoryServerHere } from '../harness/system/memory-server-here.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import {
  lineOfFullGateway,
  lineOfLostLines,
  linesOfFewFiles,
  linesOfMissingField,
  linesOfRefused,
  linesOfSeveral,
  linesOfUnknownHost,
  linesOnSystemdSocket,
  unexpectedError,
  useOfResource,
} from './support/unusual-lines.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The cells of a table by row. The first cell has no backticks. */
function tableUnder(head: string): string[][] {
  const [, after = ''] = operations.split(`\n${head}\n`);
  const [table = ''] = after.split('\n\n');
  const rows = table.split('\n').slice(1);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function names(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

const metricsTable = '| metric and its labels | meaning |';

function metricIn(cell: string) {
  const [, name = '', labels] = /^`(\w+)(?:\{([\w,]+)\})?`$/.exec(cell) ?? [];
  return { name, labels: labels?.split(',') ?? [] };
}

/** As the manual says. */
function typeOf(name: string) {
  if (name.endsWith('_total')) return 'counter';
  return name.endsWith('_seconds') ? 'histogram' : 'gauge';
}

const { it: itWithSystemd } = needsPrograms('systemd-socket-activate');

describe('the operations manual', () => {
  let metrics = '';
  const lines: LogLine[] = [];

  before('a relay meets everything there is to count and to log', async () => {
    const server = await MemoryServerHere.start();
    const underTest = await startRelay({
      'metrics-port': '0',
      'shared-memory': server.address,
      'key-file': await keyFile(),
      'max-connections': '1',
      'rate-limit': '5',
      'log-client-address': 'whole',
      'log-level': 'debug',
      scope: 'user',
    });
    const { process: relay, provider } = underTest;
    provider.onToken = json({ access_token: canary('token'), scope: 'user repo' });
    await underTest.get(loginPath);
    await underTest.get(`${callbackPath}?error=server_error`);
    await underTest.get(`${loginPath}?response_type=code&client_id=nobody`);
    await underTest.logIn();
    await underTest.send({ path: loginPath, headers: [['Origin', 'https://other.example']] });
    await requestToken(underTest, { client_id: 'app', grant_type: 'authorization_code' });
    provider.onUser = reset;
    await underTest.lookUp();
    provider.onUser = answer(503);
    await underTest.lookUp();
    await overflow(underTest);
    metrics = await underTest.metrics();
    const { port } = server;
    await server.stop();
    await relay.logLine(({ msg }) => msg === 'shared memory is away');
    await server.listen(port);
    await relay.logLine(({ msg }) => msg === 'shared memory is back');
    await writeFile(underTest.secretFile, canary('secret'));
    expect(await underTest.reload()).to.have.property('changed');
    await writeFile(underTest.secretFile, '');
    expect(await underTest.reload()).to.have.property('faults');
    await underTest.stop();
    await server.stop();
    lines.push(...relay.logLines);
    lines.push(await unexpectedError(), lineOfFullGateway());
    lines.push(...(await linesOfSeveral()), ...(await linesOfRefused()), ...(await linesOfMissingField()));
    lines.push(...(await linesOfUnknownHost()));
    const resource = await useOfResource();
    lines.push(...resource.lines);
    metrics += resource.series;
  });

  itWithSystemd('documents exactly the fields of the log', async () => {
    lines.push(...(await linesOnSystemdSocket()), ...(await linesOfFewFiles()), await lineOfLostLines());
    const documented = tableUnder('| field | meaning |').flatMap(([fields = '']) =>
      fields.replaceAll('`', '').split(', '),
    );
    expectSameNames(
      documented,
      lines.flatMap((line) => fieldsOf(line)),
      'the table of the log',
    );
  });

  it('documents exactly the metrics of the relay, with their types and labels', () => {
    const exported = [...metrics.matchAll(/^# TYPE (\w+ \w+)$/gm)]
      .map(([, metric = '']) => metric)
      .filter((metric) => !/^(?:process|nodejs)_/.test(metric));
    const documented = tableUnder(metricsTable).map(([metric = '']) => metricIn(metric));
    expectSameNames(
      documented.map(({ name }) => `${name} ${typeOf(name)}`),
      exported,
      'the table of metrics',
    );
    for (const { name, labels } of documented) {
      const series = new RegExp(`^${name}(?:_bucket)?\\{(.*)\\} `, 'gm');
      const used = [...metrics.matchAll(series)].flatMap(([, text = '']) =>
        [...text.matchAll(/(\w+)="/g)].map(([, label]) => label),
      );
      const expected = new Set(used.filter((label) => label !== 'le'));
      expect([...expected], name).to.have.members(labels);
    }
  });

  it('explains every limit that is counted', () => {
    const limits = [...metrics.matchAll(/^login_relay_limits_hit_total\{limit="(\w+)"\}/gm)];
    const [, meaning] = tableUnder(metricsTable).find(([name]) => name?.includes('limits_hit')) ?? [];
    expect(names(meaning)).to.have.members(limits.map(([, limit]) => limit));
  });

  it('explains every outcome that a login may have', () => {
    const ofLookups = failureCodes.filter((code) => /^credentials_|^token_(mal|inv)/.test(code));
    const ofOtherAddresses = ['not_found', 'not_ready'];
    const ofNoBrowser = ['host_unusable', 'bad_request', 'request_timeout'];
    const others: readonly string[] = [...ofLookups, ...ofOtherAddresses, ...ofNoBrowser];
    const explained = tableUnder('| outcome | what to do |').flatMap(([cell]) => names(cell));
    const possible = failureCodes.filter((code) => !others.includes(code));
    expectSameNames(explained, ['ok', ...possible], 'the table of outcomes');
  });

  it('explains every error code of providers', () => {
    const explained = tableUnder('| providerError | usual cause |').flatMap(([cell]) => names(cell));
    expectSameNames(explained, providerErrorCodes, 'the table of providerError');
  });
});

/** Opens connections until the relay closes a connection to make room for another. */
async function overflow({ port, process }: RelayUnderTest): Promise<void> {
  const { connect } = await import('node:net');
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await process.logLine(({ limit }) => limit !== undefined);
  for (const socket of sockets) socket.destroy();
}

function fieldsOf(line: LogLine): string[] {
  return Object.entries(line).flatMap(([name, value]) =>
    ['provider', 'webSocket'].includes(name) ? Object.keys(Object(value)).map((inner) => `${name}.${inner}`) : [name],
  );
}
