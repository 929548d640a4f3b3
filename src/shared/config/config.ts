import type { SealingRing } from '../crypto/sealing.ts';

export type ApiKeySecrets = readonly [string, ...string[]];

export interface Config {
  /** The ring of secrets for the tags of API keys and session tokens. The first one makes new tags. */
  apiKeySecrets: ApiKeySecrets;
  sealing: SealingRing;
}

/** A missing or malformed variable. The message names the variable but never contains its value. */
export class ConfigError extends Error {}

const MIN_SECRET_LENGTH = 32;

type Secrets = Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS' | 'SIGNING_KEYS'>;

const required = (secrets: Partial<Secrets>, name: keyof Secrets): string => {
  const value = secrets[name];
  if (!value) throw new ConfigError(`${name} is missing: set it as described in docs/deploying.md.`);
  return value;
};

const readApiKeySecrets = (secrets: Partial<Secrets>): ApiKeySecrets => {
  const ring = required(secrets, 'API_KEY_SECRET')
    .split(',')
    .map((entry) => entry.trim());
  const short = ring.find(({ length }) => length < MIN_SECRET_LENGTH);
  if (short !== undefined)
    throw new ConfigError(
      `API_KEY_SECRET is too short: each entry needs at least ${MIN_SECRET_LENGTH} random characters, and one has ${short.length}.`,
    );
  if (new Set(ring).size < ring.length) throw new ConfigError('API_KEY_SECRET has the same entry twice.');
  return ring as [string, ...string[]];
};

const readSealingKeys = (secrets: Partial<Secrets>): SealingRing => {
  const keys = new Map<string, string>();
  for (const entry of required(secrets, 'SEALING_KEYS').split(',')) {
    const match = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry.trim());
    if (!match) {
      throw new ConfigError(
        'SEALING_KEYS must be a comma-separated list of "name:key", where each key is 32 random bytes in base64.',
      );
    }
    const [, name = '', key = ''] = match;
    if (keys.has(name)) throw new ConfigError(`SEALING_KEYS names the key "${name}" twice.`);
    keys.set(name, key);
  }
  const [current = ''] = keys.keys();
  return { current, keys };
};

/**
 * The secrets from which the keys that sign tokens follow, the current one first. They are not part of `readConfig`, so that
 * a service that was deployed before there were tokens answers everything else without them.
 */
export const readSigningKeys = (env: Partial<Secrets>): string[] => {
  const ring = required(env, 'SIGNING_KEYS')
    .split(',')
    .map((entry) => entry.trim());
  if (!ring.every((entry) => /^[A-Za-z0-9+/]{43}=$/.test(entry)))
    throw new ConfigError(
      'SIGNING_KEYS must be a comma-separated list of keys, each 32 random bytes in base64.',
    );
  if (new Set(ring).size < ring.length) throw new ConfigError('SIGNING_KEYS has the same key twice.');
  return ring;
};

/** The operator's token, or null if the service has none. */
export const readOperatorToken = ({ OPERATOR_TOKEN: token }: Pick<Env, 'OPERATOR_TOKEN'>): string | null => {
  if (!token) return null;
  if (token.length < MIN_SECRET_LENGTH)
    throw new ConfigError(
      `OPERATOR_TOKEN is too short: it needs at least ${MIN_SECRET_LENGTH} random characters and has ${token.length}.`,
    );
  return token;
};

const configByEnv = new WeakMap<object, Config>();

export const readConfig = (env: Partial<Secrets>): Config => {
  let config = configByEnv.get(env);
  if (!config) {
    config = { apiKeySecrets: readApiKeySecrets(env), sealing: readSealingKeys(env) };
    configByEnv.set(env, config);
  }
  return config;
};
