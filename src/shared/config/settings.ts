import { type Limits, OWN_LIMITS } from '../rules/plans.ts';
import { LEASE_MS, OPEN_AFTER_CALLS } from '../rules/regions.ts';
import { parseDatabases } from './databases.ts';
import {
  InvalidText,
  oneOf,
  parseApiKeySecrets,
  parseLimits,
  parseOrigin,
  parsePrices,
  parseSealingKeys,
  parseSigningKeys,
  parseText,
  parseToken,
  parseUrl,
  wholeNumber,
} from './parse.ts';

// The only code that reads the service's variables and secrets. docs/deploying.md describes each of them.

/** The names of the variables and secrets. The other members of `Env` are bindings. */
type Variable = { [K in keyof Env]-?: Env[K] extends string | undefined ? K : never }[keyof Env];

type Variables = { readonly [name in Variable]?: string | undefined };

/** A missing or malformed variable. The message begins with the variable's name and never contains its value. */
export class ConfigError extends Error {}

interface Setting<T> {
  variable: Variable;
  parse: (text: string) => T;
  /** The value if the variable is missing or empty. Without it, that is an error. */
  missing?: { value: T };
  /** The value if the variable is malformed, which /health then reports. Without it, whoever reads the setting fails. */
  malformed?: { value: T };
}

const required = <T>(variable: Variable, parse: (text: string) => T): Setting<T> => ({ variable, parse });

const optional = <T>(variable: Variable, parse: (text: string) => T): Setting<T | null> => ({
  variable,
  parse,
  missing: { value: null },
});

/** A setting that never makes a call fail. */
const withDefault = <T>(variable: Variable, parse: (text: string) => T, value: T): Setting<T> => ({
  variable,
  parse,
  missing: { value },
  malformed: { value },
});

const flag = oneOf({ true: true, false: false });

export const SETTINGS = {
  /** The ring of secrets for the tags of API keys and session tokens. The first one makes new tags. */
  apiKeySecrets: required('API_KEY_SECRET', parseApiKeySecrets),
  sealing: required('SEALING_KEYS', parseSealingKeys),
  signingKeys: required('SIGNING_KEYS', parseSigningKeys),
  /** Null if the service has no paths for operators. */
  operatorToken: optional('OPERATOR_TOKEN', parseToken),
  databases: required('DATABASES', parseDatabases),
  gateEpoch: withDefault('GATE_EPOCH', parseText, '1'),
  allowsLoopbackWebhooks: withDefault('WEBHOOK_ALLOW_LOOPBACK', flag, false),
  /** Who can create an account. A word that isn't understood must not open the service. */
  registration: {
    variable: 'REGISTRATION',
    parse: oneOf({ open: 'open', invite: 'invite', closed: 'closed' } as const),
    missing: { value: 'open' },
    malformed: { value: 'closed' },
  } as Setting<'open' | 'invite' | 'closed'>,
  /** Whether homes open branches. They close those that are open otherwise. */
  hasRegions: withDefault('REGIONS', oneOf({ on: true, off: false }), false),
  leaseMs: withDefault('REGIONS_LEASE_SECONDS', (text) => wholeNumber(5, 300)(text) * 1_000, LEASE_MS),
  /** The calls from a region within a minute that open its branch. */
  openAfterCalls: withDefault('REGIONS_OPEN_AFTER', wholeNumber(1, 100_000), OPEN_AFTER_CALLS),
  /** The provider of new checkouts. */
  payments: withDefault(
    'PAYMENTS',
    oneOf({ none: null, stripe: 'stripe', sandbox: 'sandbox' } as const),
    null,
  ),
  /** What every account may do if no plans are sold. */
  planLimits: withDefault('PLAN_LIMITS', parseLimits, OWN_LIMITS),
  allowsSandboxAnywhere: withDefault('PAYMENTS_SANDBOX_ANYWHERE', flag, false),
  stripeSecretKey: optional('STRIPE_SECRET_KEY', parseText),
  stripeWebhookSecret: optional('STRIPE_WEBHOOK_SECRET', parseText),
  /** The prices of the plans at Stripe. Null if the service defines its own. */
  stripePrices: optional('STRIPE_PRICES', parsePrices),
  stripeApiUrl: optional('STRIPE_API_BASE', parseUrl),
  storeApiBase: optional('STORE_API_BASE', parseText),
  /** Where the links of emails lead. By default, to the host that the request was sent to. */
  publicOrigin: withDefault<string | null>('PUBLIC_ORIGIN', parseOrigin, null),
  mailFrom: optional('MAIL_FROM', parseText),
  /** Which deployment this is, by a name that no other has. */
  deployment: optional('DEPLOYMENT', parseText),
  mailPreview: optional('MAIL_PREVIEW', parseText),
} satisfies Record<string, Setting<unknown>>;

/** Reading an invalid setting throws, so that a service with an invalid secret answers whatever doesn't need it. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

interface Configuration {
  settings: Settings;
  /** What is wrong with the variables, a sentence for each. */
  problems: readonly string[];
}

const evaluate = (
  { variable, parse, missing, malformed }: Setting<unknown>,
  text: string | undefined,
): { value?: unknown; problem?: string } => {
  if (!text)
    return missing ?? { problem: `${variable} is missing: set it as described in docs/deploying.md.` };
  try {
    return { value: parse(text) };
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    return { ...malformed, problem: `${variable} ${error.message}` };
  }
};

export const readConfiguration = (env: Variables): Configuration => {
  const settings = {};
  const problems: string[] = [];
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const result = evaluate(setting, env[setting.variable]);
    if (result.problem !== undefined) problems.push(result.problem);
    const get = () => {
      if ('value' in result) return result.value;
      throw new ConfigError(result.problem);
    };
    // Nobody can assign to a getter. A test can replace it, as if a deployment had changed the variable.
    Object.defineProperty(settings, name, { get, enumerable: 'value' in result, configurable: true });
  }
  return { settings: Object.preventExtensions(settings) as Settings, problems };
};

const configurations = new WeakMap<object, Configuration>();

const configurationOf = (env: Env): Configuration => {
  let configuration = configurations.get(env);
  if (!configuration) {
    configuration = readConfiguration(env);
    configurations.set(env, configuration);
  }
  return configuration;
};

/** Returns the settings, which are read once an isolate. */
export const settingsOf = (env: Env): Settings => configurationOf(env).settings;

/** Returns the text of DATABASES, by which its meaning can be remembered. */
export const databasesText = (env: Env): string => env.DATABASES;

/** Returns what every account may do, or null if the service sells plans. */
export const ownLimits = (env: Env): Limits | null => {
  const { payments, planLimits } = settingsOf(env);
  return payments === null ? planLimits : null;
};

/** Returns what is wrong with the variables, for the health check. */
export const problemsOf = (env: Env): readonly string[] => configurationOf(env).problems;
