import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { ConfigError, readConfiguration, SETTINGS, settingsOf } from '../../src/shared/config/settings.ts';
import { OWN_LIMITS } from '../../src/shared/rules/plans.ts';
import { LEASE_MS, OPEN_AFTER_CALLS } from '../../src/shared/rules/regions.ts';

const files = import.meta.glob<string>(
  ['../../src/**/*.ts', '!../../src/{client,web}/**', '../../docs/deploying.md'],
  { query: '?raw', import: 'default', eager: true },
);

const VARIABLES = Object.values(SETTINGS).map(({ variable }) => variable);

const readOnly = (env: Parameters<typeof readConfiguration>[0]) => readConfiguration(env).settings;

test('without its variable, a setting has its default, or whoever reads it fails', () => {
  const { settings, problems } = readConfiguration({});
  expect({ ...settings }).toEqual({
    operatorToken: null,
    gateEpoch: '1',
    registration: 'open',
    allowsLoopbackWebhooks: false,
    hasRegions: false,
    leaseMs: LEASE_MS,
    openAfterCalls: OPEN_AFTER_CALLS,
    payments: null,
    planLimits: OWN_LIMITS,
    allowsSandboxAnywhere: false,
    stripeSecretKey: null,
    stripeWebhookSecret: null,
    stripePrices: null,
    stripeApiUrl: null,
    storeApiBase: null,
    publicOrigin: null,
    mailFrom: null,
    deployment: null,
    mailPreview: null,
  });
  expect(problems.map((problem) => problem.split(' ', 3).join(' '))).toEqual([
    'API_KEY_SECRET is missing:',
    'SEALING_KEYS is missing:',
    'SIGNING_KEYS is missing:',
    'DATABASES is missing:',
  ]);
  expect(() => settings.sealing).toThrow(ConfigError);
  expect(() => settings.sealing).toThrow('SEALING_KEYS is missing: ');
});

test.for([
  { name: 'WEBHOOK_ALLOW_LOOPBACK', value: 'yes', says: 'must be "true" or "false".' },
  { name: 'PAYMENTS', value: 'paypal', says: 'must be "none", "stripe" or "sandbox".' },
  { name: 'PAYMENTS', value: 'toString', says: 'must be "none", "stripe" or "sandbox".' },
  { name: 'REGIONS', value: 'sometimes', says: 'must be "on" or "off".' },
  { name: 'REGIONS_LEASE_SECONDS', value: '301', says: 'must be a whole number from 5 to 300.' },
  { name: 'REGIONS_OPEN_AFTER', value: '1.5', says: 'must be a whole number from 1 to 100000.' },
  {
    name: 'STRIPE_PRICES',
    value: 'pro:price_1',
    says: 'must be a comma-separated list of "plan:price", with a price for each paid plan.',
  },
  { name: 'STRIPE_API_BASE', value: 'localhost', says: 'must be a URL.' },
  { name: 'OPERATOR_TOKEN', value: 'too-short', says: 'is too short: ' },
  { name: 'API_KEY_SECRET', value: `${'a'.repeat(32)},${'a'.repeat(32)}`, says: 'has the same entry twice.' },
] as const)('$name = "$value" is reported as a problem', ({ name, value, says }) => {
  const { problems } = readConfiguration({ ...env, [name]: value });
  expect(problems).toEqual([expect.stringContaining(`${name} ${says}`)]);
  expect(problems[0]).not.toContain(value);
});

test('a malformed variable is refused where its default would open something, and has its default otherwise', () => {
  expect(readOnly({ PAYMENTS: 'paypal', REGIONS_OPEN_AFTER: 'many' })).toMatchObject({
    payments: null,
    openAfterCalls: OPEN_AFTER_CALLS,
  });
  expect(() => readOnly({ OPERATOR_TOKEN: 'too-short' }).operatorToken).toThrow(
    'OPERATOR_TOKEN is too short',
  );
});

test('settings are read once, and nobody can assign to them', () => {
  const variables = { ...env };
  const settings = settingsOf(variables);
  variables.REGIONS = 'off';
  expect(settingsOf(variables)).toBe(settings);
  expect(settings.hasRegions).toBe(true);
  expect(() => Object.assign(settings, { hasRegions: false })).toThrow(TypeError);
  expect(() => Object.assign(settings, { more: true })).toThrow(TypeError);
});

test('docs/deploying.md describes exactly the variables and secrets that are read', () => {
  const document = files['../../docs/deploying.md'] ?? '';
  const rows = document.matchAll(/^\| (`[^|]+) \| (?:secret|variable)[^|]* \|/gm);
  const described = [...rows].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
  expect(new Set(described)).toEqual(new Set<string>(VARIABLES));
});

test('no other file reads a variable', () => {
  const name = `\\b(?:${VARIABLES.join('|')})\\b`;
  const reads = new RegExp(
    `\\benv\\.${name}|\\{[^{}]*${name}[^{}]*\\}\\s*[:=]\\s*(?:\\w+\\.)*(?:env|Env)\\b`,
  );
  const readers = Object.keys(files).filter((path) => reads.test(files[path] ?? ''));
  expect(readers).toEqual(['../../src/shared/config/settings.ts']);
  expect(Object.keys(files).length).toBeGreaterThan(200);
});
