import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { renderMetrics } from '../../src/operators/metrics.ts';

const files = import.meta.glob<string>(
  ['../../docs/*.md', '../../docs/alerts.yml', '../../src/backups/metrics.ts'],
  {
    query: '?raw',
    import: 'default',
    eager: true,
  },
);
const text = (path: string) => files[`../../${path}`] ?? '';
const rules = text('docs/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1)
  .map((rule) => {
    const field = (name: string) => new RegExp(`^ +${name}: (.*)$`, 'm').exec(rule)?.[1] ?? '';
    return {
      name: rule.split('\n')[0] ?? '',
      expr: /^ +expr: (?:\|\n)?([^]*?)\n +(?:for|labels):/m.exec(rule)?.[1] ?? '',
      severity: /severity: (\w+)/.exec(rule)?.[1],
      summary: field('summary'),
      todo: field('what_to_do'),
    };
  });

/** As GitHub makes them of headings. */
const anchorsOf = (page: string) =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );

test('each alert rule is about metrics and labels that the service has, and leads to what to do', async () => {
  const counts = {
    requests: [{ method: 'GET', route: '/health', status: 200, code: '', count: 1 }],
    verifies: { bounds: [10], buckets: [1], count: 1, sumMs: 5 },
  };
  const metrics = await renderMetrics(env, counts);
  const samples = [...metrics.matchAll(/^(latchkey_\w+)(?:\{(.*)\})? /gm)];
  const labels = new Map<string, string>();
  for (const [, name = '', found = ''] of samples) labels.set(name, `${labels.get(name) ?? ''},${found}`);
  // A service without a bucket has no backups.
  const [, backup = ''] = /render\('(\w+)'/.exec(text('src/backups/metrics.ts')) ?? [];
  labels.set(`latchkey_${backup}`, '');
  expect(rules.length).toBe(11);
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  for (const { name, expr, severity, summary, todo } of rules) {
    expect([name, severity]).toEqual([name, expect.stringMatching(/^(?:page|ticket)$/)]);
    const used = [...expr.matchAll(/latchkey_\w+/g)].map(([metric]) => metric);
    expect([name, used.length]).not.toEqual([name, 0]);
    for (const metric of used) expect([...labels.keys()]).toContain(metric);
    const named = [...`${expr} ${summary}`.matchAll(/\$labels\.(\w+)|by \((\w+)\)|\{(\w+)=/g)]
      .map(([, a, b, c]) => a ?? b ?? c)
      // What a histogram is grouped by.
      .filter((label) => label !== undefined);
    for (const label of named)
      expect(used.map((metric) => labels.get(metric)).join()).toContain(`${label}="`);
    const [file = '', anchor] = todo.split('#');
    expect([name, text(file) === '']).toEqual([name, false]);
    const anchors = anchorsOf(text(file));
    expect(anchor === undefined || anchors.includes(anchor)).toBe(true);
  }
});
