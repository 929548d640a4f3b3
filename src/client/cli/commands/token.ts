import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { openKeyRing } from '../../core/key-ring.ts';
import { checkTime, checkToken, type TokenReason } from '../../core/token.ts';
import type { PinnedKeys } from '../../core/types.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { readPinnedKeys } from '../pinned-keys.ts';
import { clean } from '../table.ts';
import { fetchKeys } from './keys.ts';

type Json = Record<string, unknown>;

const MAX_SECONDS = 8.64e12;

const time = (seconds: unknown): string =>
  typeof seconds === 'number' && Math.abs(seconds) <= MAX_SECONDS
    ? new Date(seconds * 1_000).toISOString()
    : 'an unknown time';

interface Check {
  reason: TokenReason;
  passed: string;
  failed: (token: { header: Json; claims: Json; account: string }) => string;
  /** The option without which the check is left out. */
  option?: 'fingerprint' | 'license-key' | 'product' | 'kind';
}

/** In the order in which an application checks. */
const CHECKS: Check[] = [
  { reason: 'malformed', passed: 'It has the form of a token', failed: () => 'This isn’t a token.' },
  {
    reason: 'typ',
    passed: 'It is a Latchkey token',
    failed: ({ header }) => `Its type is ${String(header['typ'])} instead of latchkey+jwt.`,
  },
  {
    reason: 'alg',
    passed: 'It is signed with Ed25519',
    failed: ({ header }) => `Its algorithm is ${String(header['alg'])} instead of EdDSA.`,
  },
  {
    reason: 'kid',
    passed: 'Its key is trusted',
    failed: ({ header }) =>
      `It names the key ${String(header['kid'])}, which is not one of the account’s pinned keys, and no chain leads to it.`,
  },
  {
    reason: 'signature',
    passed: 'The signature is good',
    failed: () => 'The signature is wrong: the token was changed, or someone else made it.',
  },
  {
    reason: 'aud',
    passed: 'It is from the account',
    failed: ({ claims, account }) => `It is from the account ${String(claims['aud'])} instead of ${account}.`,
  },
  {
    reason: 'fp',
    passed: 'It is for this fingerprint',
    failed: () => 'It is for another machine: the fingerprint differs.',
    option: 'fingerprint',
  },
  {
    reason: 'lk',
    passed: 'It is for this license key',
    failed: () => 'It is for another license key.',
    option: 'license-key',
  },
  {
    reason: 'product',
    passed: 'It is for this product',
    failed: ({ claims }) => `It is for the product ${String(claims['product'])}.`,
    option: 'product',
  },
  {
    reason: 'kind',
    passed: 'It is of this kind',
    failed: ({ claims }) => `It is an ${String(claims['kind'])} token.`,
    option: 'kind',
  },
  {
    reason: 'iat',
    passed: 'It was issued in the past',
    failed: ({ claims }) =>
      `It was issued in the future, at ${time(claims['iat'])}: check this computer’s clock.`,
  },
  {
    reason: 'exp',
    passed: 'It has not expired',
    failed: ({ claims }) => `It expired at ${time(claims['exp'])}.`,
  },
];

const readText = async (source: string): Promise<string> => {
  if (source === '-') return readAll(process.stdin);
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(source.replace(/\s/g, '')) && source.length > 100) return source;
  return readFile(source, 'utf8').catch(() => {
    throw new CliError('That is neither a token nor a file.');
  });
};

/** Mail programs wrap long lines. */
const readToken = async (source: string) => (await readText(source)).replace(/\s/g, '');

const decode = (part: string | undefined): Json => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
};

/** Returns the trusted keys: from a file and its chain, or those that the service has now. */
const trustedKeys = async (
  context: Context,
  file: string | undefined,
  account: string | undefined,
  kid: unknown,
) => {
  if (file === undefined) {
    const { pinned } = await fetchKeys(context, account ?? (await context.accountId()));
    context.out.note(
      'The keys come from the service. Pass --keys to check with the keys that your application pins.',
    );
    return pinned;
  }
  const pinned = await readPinnedKeys(file);
  const isPinned = pinned.keys.some((key) => key.kid === kid);
  return isPinned || (await context.settings()).url === undefined
    ? pinned
    : followChain(context, pinned, kid);
};

const followChain = async (context: Context, pinned: PinnedKeys, kid: unknown): Promise<PinnedKeys> => {
  const ring = openKeyRing(pinned);
  await ring.follow((await fetchKeys(context, pinned.account)).chain);
  const key = ring.find(kid);
  return key ? { ...pinned, keys: [...pinned.keys, key] } : pinned;
};

const findReason = async (token: string, keys: PinnedKeys, expected: object): Promise<TokenReason | null> => {
  const ring = openKeyRing(keys);
  const result = await checkToken(token, ring, { account: keys.account, ...expected });
  if (typeof result === 'string') return result;
  const time = checkTime(result, { ownMs: Date.now(), offsetMs: 0, markMs: 0 });
  return typeof time === 'string' ? time : null;
};

export const inspectToken = command({
  name: 'token inspect',
  args: ['TOKEN'],
  summary: 'Say why a token is good or not',
  details: [
    'TOKEN is the token itself, a file that contains it, or - for standard input.',
    'Exits with 0 if the token is good and says that the license is valid, and 1 if not.',
  ],
  options: {
    keys: { value: 'FILE', help: 'The pinned keys, as keys pull writes them' },
    account: { value: 'ID', help: 'Without --keys: the account whose keys to get from the service' },
    'license-key': { value: 'KEY', help: 'The license key that the token must be for' },
    fingerprint: { value: 'TEXT', help: 'The fingerprint that the token must be for' },
    product: { value: 'CODE', help: 'The product that the token must be for' },
    kind: { value: 'KIND', help: 'online or offline' },
  },
  run: async (context, [source = ''], options) => {
    const { out } = context;
    const { fingerprint, product, kind, 'license-key': licenseKey } = options;
    if (kind !== undefined && kind !== 'online' && kind !== 'offline')
      throw new CliError('--kind must be online or offline.');
    const token = await readToken(source);
    const [header, claims] = token.split('.', 2).map(decode) as [Json, Json | undefined];
    const keys = await trustedKeys(context, options.keys, options.account, header['kid']);
    const reason = await findReason(token, keys, { fingerprint, product, kind, licenseKey });

    const failedAt = CHECKS.findIndex((check) => check.reason === reason);
    const details = { header, claims: claims ?? {}, account: keys.account };
    const isYes = reason === null && claims?.['valid'] === true;
    const verdict =
      reason === null
        ? isYes
          ? 'The token is good, and the license is valid.'
          : `The token is good, but it says that the license is not valid: ${String(claims?.['code'])}.`
        : `The token is not good. ${CHECKS[failedAt]?.failed(details) ?? reason}`;
    const done = CHECKS.slice(0, failedAt === -1 ? CHECKS.length : failedAt).filter(
      ({ option }) => option === undefined || options[option] !== undefined,
    );
    if (out.isJson)
      out.json({
        good: reason === null,
        valid: isYes,
        reason,
        message: verdict,
        header,
        claims: claims ?? null,
      });
    else {
      const { colors } = out;
      out.fields(null, Object.fromEntries(describe(claims ?? {})));
      out.text('');
      for (const { passed } of done) out.text(`${colors.green('✓')} ${passed}`);
      out.text(`${isYes ? colors.green('✓') : colors.red('✗')} ${clean(verdict)}`);
    }
    return isYes ? 0 : 1;
  },
});

const describe = (claims: Json): [string, string][] =>
  Object.entries(claims).map(([name, value]) => [
    name,
    ['iat', 'exp'].includes(name) ? time(value) : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
