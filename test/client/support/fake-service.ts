import type { Fetch, PinnedKeys } from '../../../src/client/core/types.ts';
import { type Proof, type SignedVerdict, toClaims } from '../../../src/tokens/claims.ts';
import { keySetOf, signToken } from '../../../src/tokens/jws.ts';
import { signingKeysOf } from '../../../src/tokens/keys.ts';
import type { FakeTime } from './fake-time.ts';

const ACCOUNT = 'acct_0VJ1mKq7XbT2c9LpQwZa';
export const LICENSE_KEY = '7K3QD-9WZXA-M2RTB-H5NVE-40GPW';
export const FINGERPRINT = 'machine-0123456789';
const ACTIVATION = 'act_0VJ1mKq7XbT2c9LpQwZa';
const MACHINE = {
  id: ACTIVATION,
  name: 'Laptop',
  platform: 'linux',
  activated_at: '2026-11-01T12:00:00.000Z',
  lease_until: null,
};
/** Entries of SIGNING_KEYS, oldest first. */
export const RING = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64'));

export const pinnedKeys = async (ring = RING.slice(0, 1), account = ACCOUNT): Promise<PinnedKeys> => ({
  account,
  keys: (await signingKeysOf(ring, account)).map(({ jwk }) => jwk),
});

export interface Request {
  path: string;
  input: Record<string, string | undefined>;
  signal: AbortSignal;
}

type Handler = (request: Request) => Response | Promise<Response>;

/** What a token says, where it differs from a valid license's. */
export type Statement = Partial<SignedVerdict & Proof>;

export interface FakeService {
  requests: Request[];
  /** Replace the answer to the next requests. */
  handlers: Handler[];
  /** Answers every request, if it is set. */
  always: Handler | null;
  terms: Terms;
  /** How far the service's clock is ahead of the machine's. */
  aheadMs: number;
  paths(): string[];
  timeNow(): number;
  sign(statement?: Statement, nowMs?: number): Promise<string>;
  /** The service's own answer. */
  answer: (request: Pick<Request, 'path' | 'input'>) => Promise<Response>;
  fetch: Fetch;
  /** Says no from now on. */
  refuse(code: SignedVerdict['code'], status?: SignedVerdict['status']): void;
}

interface Terms {
  statement: Statement;
  leaseMs: number | null;
  body: Record<string, unknown>;
  account: string;
  /** The ring of signing keys, the current one first. */
  ring: string[];
}

/** The service, as far as an application sees it, in the test's time. */
export const createService = (time: FakeTime) => {
  const requests: Request[] = [];
  const handlers: Handler[] = [];
  const service: FakeService = {
    requests,
    handlers,
    always: null,
    terms: { statement: {}, leaseMs: null, body: {}, account: ACCOUNT, ring: RING.slice(0, 1) },
    aheadMs: 0,
    paths: () => requests.map(({ path }) => path),
    timeNow: () => time.nowMs + service.aheadMs,

    sign: async (statement = {}, nowMs = service.timeNow()) => {
      const { account, ring } = service.terms;
      const [key] = await signingKeysOf(ring, account);
      if (!key) throw new Error('The ring is empty.');
      const full: SignedVerdict & Proof = {
        kind: 'online',
        nonce: null,
        fingerprint: FINGERPRINT,
        valid: true,
        status: 'active',
        expires_at: null,
        code: 'valid',
        license_key: LICENSE_KEY,
        license_id: 'lic_0VJ1mKq7XbT2c9LpQwZa',
        product: 'orrery',
        entitlements: { export: true, seats: 5, tier: '' },
        updates_until: null,
        offline_days: 14,
        activation: MACHINE,
        seats: null,
        retry_at: null,
        machines: null,
        ...statement,
      };
      return signToken(key, toClaims('https://latchkey.test', account, full, full, nowMs));
    },

    answer: async ({ path, input }) => {
      const nowMs = service.timeNow();
      if (path.startsWith('jwks/')) {
        const { account, ring } = service.terms;
        return Response.json(await keySetOf(account, await signingKeysOf(ring, account)));
      }
      if (path === 'deactivate') return Response.json({ valid: false, code: 'deactivated', token: null });
      const { statement, leaseMs, body } = service.terms;
      const lease_until = leaseMs === null ? null : new Date(nowMs + leaseMs).toISOString();
      const activation = { ...MACHINE, lease_until };
      const { license_key = '', fingerprint = null, nonce = null } = input;
      const said = { license_key, fingerprint, nonce, activation, ...statement };
      const token = await service.sign(said, nowMs);
      return Response.json({
        seats: { used: 1, limit: 3 },
        activation,
        server_time: new Date(nowMs).toISOString(),
        machines: null,
        retry_at: null,
        token,
        ...body,
      });
    },

    fetch: async (url, { body, signal }) => {
      const path = new URL(url).pathname.replace(/^\/api\/v1\/(licenses\/)?/, '');
      const request = { path, input: JSON.parse(body ?? '{}') as Request['input'], signal };
      requests.push(request);
      const handler = handlers.shift() ?? service.always ?? service.answer;
      time.busy += 1;
      try {
        return await handler(request);
      } finally {
        time.busy -= 1;
      }
    },

    refuse: (code, status = code as SignedVerdict['status']) => {
      service.terms.statement = { valid: false, code, status };
    },
  };
  return service;
};

/** An error of the service. */
export const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error: { code: 'x', message: 'X', request_id: 'req_1' } }, { status: code, headers });

/** A request that never ends by itself, and doesn't count as work. */
export const hang = (time: FakeTime) => (): Promise<Response> => {
  time.busy -= 1;
  return new Promise<Response>(() => {}).finally(() => {
    time.busy += 1;
  });
};
