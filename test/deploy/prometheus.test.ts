import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import { exportedMetrics } from './support/exported-metrics.ts';

const rulesFile = 'deploy/prometheus/login-relay.rules.yaml';
const ruleTests = 'test/deploy/alerts.yaml';
const dashboardFile = 'deploy/grafana/login-relay.json';

/** The part of each file that the tests read. */
interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
}
interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { alertname: string; exp_alerts?: readonly object[] }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { expr: string }[] }[];
}

function textOf(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}

/** Runs `promtool check` on a temporary file with this content; JSON is also YAML. Returns its output. */
async function checked(kind: 'rules' | 'config', content: object): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const file = join(directory, 'prometheus.yaml');
  await writeFile(file, JSON.stringify(content));
  const output = promtool('check', kind, file);
  await rm(directory, { recursive: true });
  return output;
}

function promtool(...args: string[]): string {
  const { code, stdout, stderr } = run('promtool', args);
  expect(code, stdout + stderr).to.equal(0);
  return stdout;
}

/** The names of the metrics in an expression; a histogram counts once. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\blogin_relay_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
}

async function expectExported(expressions: readonly string[]): Promise<void> {
  const exported = await exportedMetrics();
  const used = new Set(expressions.flatMap(metricsIn));
  expect(used.size).to.be.above(5);
  expect([...exported.keys()]).to.include.members([...used]);
}

const { describe } = needsPrograms('promtool');

describe('the alert rules', () => {
  const { groups }: Rules = parse(textOf(rulesFile));
  const rules = groups.flatMap((group) => group.rules);

  it('are valid', () => {
    promtool('check', 'rules', rulesFile);
  });

  it('fire when they should, and only then', () => {
    promtool('test', 'rules', ruleTests);
  });

  it('have a test in which they fire, and a test in which they do not', () => {
    const { tests }: RuleTests = parse(textOf(ruleTests));
    const expectations = tests.flatMap((test) => test.alert_rule_test);
    const names = (fires: boolean) => [
      ...new Set(
        expectations.filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname),
      ),
    ];
    const alerts = rules.map(({ alert }) => alert);
    expect(names(true)).to.have.members(alerts);
    expect(names(false)).to.have.members(alerts);
  });

  it('use only existing metrics', async () => {
    await expectExported(rules.map(({ expr }) => expr));
  });

  it('use the job name of the manual', async () => {
    const examples = textOf('docs/operations.md').matchAll(/(?<=^```yaml\n).*?(?=^```$)/gms);
    const [scrape = '', relabel = ''] = Array.from(examples, ([example]) => example);
    const [{ job_name: job, static_configs }] = parse(scrape).scrape_configs;
    const relabel_configs = parse(relabel);
    const down = rules.find(({ alert }) => alert === 'LoginRelayDown');
    const [, expected = ''] = /job=~"(.*?)"/.exec(down?.expr ?? '') ?? [];
    expect(job).to.match(new RegExp(`^(?:${expected})$`));
    expect(relabel_configs[0].regex).to.equal(`(${job})`);
    const scrape_configs = [{ job_name: job, static_configs, relabel_configs }];
    await checked('config', { scrape_configs });
  });

  it('are all explained in the manual, and the manual explains no others', () => {
    const operations = textOf('docs/operations.md');
    const explained = [...operations.matchAll(/^### (LoginRelay\w+)$/gm)].map(([, name]) => name);
    expect(explained).to.deep.equal(rules.map(({ alert }) => alert));
  });
});

describe('the dashboard', () => {
  const { panels }: Dashboard = JSON.parse(textOf(dashboardFile));
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('has only valid expressions', async () => {
    const rules = expressions.map((expression, index) => ({
      record: `panel:${index}`,
      expr: expression.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, 'anything'),
    }));
    const output = await checked('rules', { groups: [{ name: 'dashboard', rules }] });
    expect(output).to.contain(`${expressions.length} rules found`);
  });

  it('uses only existing metrics', async () => {
    await expectExported(expressions);
  });
});
