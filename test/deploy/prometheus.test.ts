import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { array, number, object, optional, parse, string, tuple, unknown } from 'valibot';
import { parse as parseYaml } from 'yaml';
import { projectRoot, run } from '../harness/project/run.ts';
import { needsPrograms } from '../harness/system/needs.ts';
import { exportedMetrics } from './support/exported-metrics.ts';

const rulesFile = 'deploy/prometheus/login-relay.rules.yaml';
const ruleTests = 'test/deploy/alerts.yaml';
const dashboardFile = 'deploy/grafana/login-relay.json';

const rulesSchema = object({
  groups: array(object({ rules: array(object({ alert: string(), expr: string() })) })),
});
const ruleTestsSchema = object({
  tests: array(
    object({
      alert_rule_test: array(
        object({ alertname: string(), exp_alerts: optional(array(object({}))) }),
      ),
    }),
  ),
});
const scrapeSchema = object({
  scrape_configs: tuple([object({ job_name: string(), static_configs: array(unknown()) })]),
});
const dashboardSchema = object({
  panels: array(
    object({
      id: number(),
      type: string(),
      title: string(),
      gridPos: object({ x: number(), y: number(), w: number(), h: number() }),
      targets: optional(array(object({ refId: string(), expr: string() }))),
    }),
  ),
});

function textOf(file: string): string {
  return readFileSync(join(projectRoot, file), 'utf8');
}

/** The names of the metrics in an expression; a histogram counts once. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\blogin_relay_\w+/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  );
}

async function expectExported(expressions: readonly string[]): Promise<void> {
  const exported = await exportedMetrics();
  const used = new Set(expressions.flatMap(metricsIn));
  expect(used.size).to.be.above(5);
  expect([...exported.keys()]).to.include.members([...used]);
}

const { describe } = needsPrograms('promtool');

describe('the alert rules', () => {
  const { groups } = parse(rulesSchema, parseYaml(textOf(rulesFile)));
  const rules = groups.flatMap((group) => group.rules);

  it('are valid', () => {
    const { code, stdout, stderr } = run('promtool', ['check', 'rules', rulesFile]);
    expect(code, stdout + stderr).to.equal(0);
  });

  it('fire when they should, and only then', () => {
    const { code, stdout, stderr } = run('promtool', ['test', 'rules', ruleTests]);
    expect(code, stdout + stderr).to.equal(0);
  });

  it('have a test in which they fire, and one in which they do not', () => {
    const { tests } = parse(ruleTestsSchema, parseYaml(textOf(ruleTests)));
    const expectations = tests.flatMap((test) => test.alert_rule_test);
    const names = (fires: boolean) => [
      ...new Set(
        expectations
          .filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === fires)
          .map(({ alertname }) => alertname),
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
    const [scrape = '', relabel = ''] = [
      ...textOf('docs/operations.md').matchAll(/(?<=^```yaml\n).*?(?=^```$)/gms),
    ].map(([block]) => block);
    const [{ job_name: job, static_configs }] = parse(
      scrapeSchema,
      parseYaml(scrape),
    ).scrape_configs;
    const relabel_configs = parseYaml(relabel);
    const down = rules.find(({ alert }) => alert === 'LoginRelayDown');
    const [, expected = ''] = /job=~"(.*?)"/.exec(down?.expr ?? '') ?? [];
    expect(job).to.match(new RegExp(`^(?:${expected})$`));
    expect(relabel_configs[0].regex).to.equal(`(${job})`);
    const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    const file = join(directory, 'prometheus.yaml');
    const scrape_configs = [{ job_name: job, static_configs, relabel_configs }];
    await writeFile(file, JSON.stringify({ scrape_configs }));
    const { code, stdout, stderr } = run('promtool', ['check', 'config', file]);
    await rm(directory, { recursive: true });
    expect(code, stdout + stderr).to.equal(0);
  });

  it('are all explained in the manual, and the manual explains no others', () => {
    const operations = textOf('docs/operations.md');
    const explained = [...operations.matchAll(/^### (LoginRelay\w+)$/gm)].map(([, name]) => name);
    expect(explained).to.deep.equal(rules.map(({ alert }) => alert));
  });
});

describe('the dashboard', () => {
  const { panels } = parse(dashboardSchema, JSON.parse(textOf(dashboardFile)));
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('has only valid expressions', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    const rules = expressions.map((expression, index) => ({
      record: `panel:${index}`,
      expr: expression.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, 'anything'),
    }));
    const file = join(directory, 'rules.yaml');
    // JSON is also YAML.
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { code, stdout, stderr } = run('promtool', ['check', 'rules', file]);
    await rm(directory, { recursive: true });
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.contain(`${expressions.length} rules found`);
  });

  it('uses only existing metrics', async () => {
    await expectExported(expressions);
  });
});
