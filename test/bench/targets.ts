// The requests that are measured, and their expected responses.
import { mintApiKey } from '../../src/api-keys/api-key.ts';
import { randomBase62 } from '../../src/shared/crypto/random.ts';
import type { CallName } from '../../src/shared/rules/verdict.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { type Drawn, requestOf, sharedValues, type Values } from './load/plan.ts';
import type { Target } from './rounds.ts';
import type { Runtime } from './runtime.ts';
import type { Licensed } from './seed.ts';

const PATH = '/api/v1/licenses/verify';
const BODY = '{"license_key":"{license}"}';
const VALID = { status: 200, text: '"valid":true,"status":"active"' };

/** `outOf` limits the calls to the first licenses, as a working set. `headers` are sent as well. */
export const verifyTarget = (
  name: string,
  runtime: Runtime,
  { apiKeys, licenses }: Pick<Licensed, 'apiKeys' | 'licenses'>,
  outOf = licenses.count,
  headers: Record<string, string> = {},
): Target => ({
  name,
  runtime,
  request: requestOf('POST', PATH, { 'x-api-key': '{key}', ...headers }, BODY, {
    key: { values: apiKeys },
    license: { values: licenses, outOf },
  }),
  expect: VALID,
});

/** The licenses and the fingerprints of the machines that hold their seats. */
export interface Seats {
  licenses: Values;
  machines: Values;
}

export const applicationTarget = (
  name: string,
  runtime: Runtime,
  call: CallName,
  { apiKeys }: Pick<Licensed, 'apiKeys'>,
  { licenses, machines }: Seats,
  draw: Drawn['draw'] = 'random',
): Target => ({
  name,
  runtime,
  request: requestOf(
    'POST',
    `/api/v1/licenses/${call}`,
    { 'x-api-key': '{key}' },
    '{"license_key":"{license}","fingerprint":"{machine}"}',
    { key: { values: apiKeys }, license: { values: licenses }, machine: { values: machines, draw } },
  ),
  expect: VALID,
});

const FORGED_KEYS = 1_000;

/** API keys in the correct format, with a tag from another secret. */
const wellFormed = () =>
  Array.from(
    { length: FORGED_KEYS },
    () => mintApiKey([randomBase62(32)], newId('acct'), newId('key')).apiKey,
  );

/** Random strings with the length of an API key. */
const nonsense = () => Array.from({ length: FORGED_KEYS }, () => randomBase62(81));

const forgedTarget = (name: string, runtime: Runtime, keys: string[], licenses: Values): Target => ({
  name,
  runtime,
  request: requestOf('POST', PATH, { 'x-api-key': '{key}' }, BODY, {
    key: { values: sharedValues(keys) },
    license: { values: licenses },
  }),
  expect: { status: 403, text: '"code":"api_key_invalid"' },
});

export const forgedTargets = (runtime: Runtime, licenses: Values): Target[] => [
  forgedTarget('forged key, bad tag', runtime, wellFormed(), licenses),
  forgedTarget('forged key, random string', runtime, nonsense(), licenses),
];

export const echoTarget = (runtime: Runtime, account: Licensed): Target => ({
  ...verifyTarget('echo', runtime, account),
  expect: { status: 200, text: '"license_key":"' },
});
