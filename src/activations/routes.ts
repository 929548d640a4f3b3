import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { toRefusalError } from '../auth/authenticate.ts';
import { endpoint } from '../auth/endpoint.ts';
import { regionOf } from '../gate/worker/nearest.ts';
import { clientLocation } from '../http/client.ts';
import type { AppEnv } from '../http/context.ts';
import { errorResponse } from '../http/errors.ts';
import type { InputOf } from '../http/input.ts';
import type { EndpointDocs } from '../http/openapi.ts';
import { openOnlyTo } from '../http/response-headers.ts';
import { settingsOf } from '../shared/config/settings.ts';
import type { CallName } from '../shared/rules/verdict.ts';
import { numberedPageQuery, pageQuery } from '../shared/schemas/lists.ts';
import { answer, canSign, requireSigningKeys, sign } from './answer.ts';
import { callGate } from './call.ts';
import {
  activationListBody,
  verdictBody,
  callInput,
  leavingBody,
  deletedActivationBody,
  givenFields,
  isPlainCall,
  offlineTokenBody,
  offlineTokenInput,
  releaseQuery,
  seatHistoryBody,
  type plainVerdictBody,
  verifyBody,
} from './schemas.ts';
import { issueOfflineToken, listActivations, listSeatChanges, releaseActivation } from './seller.ts';

const DOCS = {
  verify: {
    id: 'verifyLicense',
    summary: 'Verify a license',
    description:
      'Returns whether a license key is valid. An unknown license key is not an error: its status is `not_found`, which counts nothing. For an account, an IP address gets 60 such answers a minute and all addresses together 600, then 429 `rate_limit_exceeded`. Renews the machine’s lease, and takes back the machine’s own lapsed seat if a seat is free. A call with nothing but a license key, for a license without terms, is answered with the first five fields only. Counts as one licensing call.',
    errors: ['usage_limit_exceeded'],
  },
  activate: {
    id: 'activateLicense',
    summary: 'Activate a license on a machine',
    description:
      'Verifies the license, and takes a seat for the machine if it has none. The same fingerprint always has the same seat. Counts as one licensing call.',
    errors: ['storage_limit_reached', 'usage_limit_exceeded'],
  },
  heartbeat: {
    id: 'sendHeartbeat',
    summary: 'Renew a machine’s lease',
    description:
      'Renews the lease of the machine’s seat, and nothing more. Answers `verify_due` once the machine’s last counted call is more than 24 hours ago, or where no call of the machine is on record. Counts nothing.',
    errors: [],
  },
  deactivate: {
    id: 'deactivateLicense',
    summary: 'Release a machine’s seat',
    description:
      'Releases the machine’s seat. Without a seat or a license, the answer is the same, and it says nothing about the license. Works whatever the state of the license and the usage limit. Counts nothing.',
    errors: [],
  },
} as const satisfies Record<CallName, Pick<EndpointDocs, 'id' | 'summary' | 'description' | 'errors'>>;

const BODIES = { verify: verifyBody, activate: verdictBody, heartbeat: verdictBody, deactivate: leavingBody };

const describe = (call: CallName) =>
  endpoint({
    ...DOCS[call],
    errors: [...DOCS[call].errors],
    tag: 'Applications',
    access: 'key',
    anyOrigin: true,
    body: callInput,
    isPlain: isPlainCall,
    namesRegion: true,
    description: `${DOCS[call].description} Web pages of any origin can call this endpoint.`,
    answers: [
      {
        status: 200,
        description: 'The verdict on the license and the machine.',
        schema: BODIES[call],
      },
    ],
  });

type CallContext = Context<AppEnv, string, InputOf<{ body: typeof callInput }>>;

const answerCall =
  (call: CallName) =>
  async (c: CallContext): Promise<Response> => {
    const key = c.get('key');
    const sent = c.req.valid('json');
    const { nonce, ...input } = givenFields(sent);
    const isPlain = call === 'verify' && nonce === undefined && Object.keys(input).length === 1;
    if (!isPlain) requireSigningKeys(c.env, call);
    const region = settingsOf(c.env).hasRegions ? regionOf(clientLocation(c)) : null;
    const asked = { name: call, input, isPlain, canSign: canSign(c.env) };
    const reply = await callGate(c.env, key, asked, region);
    if (reply.region) c.header('Latchkey-Region', reply.region);
    if (reply.refused !== null) return errorResponse(c, toRefusalError(c, reply));
    c.set('rate', reply.rate);
    const { verdict, apiUsage, apiLimit } = reply;
    const usage = { api_usage: apiUsage, api_limit: apiLimit };
    if (!('code' in verdict)) {
      const { valid, status, expires_at } = verdict;
      return c.json({ valid, status, expires_at, ...usage } satisfies z.infer<typeof plainVerdictBody>, 200);
    }
    const caller = { env: c.env, origin: new URL(c.req.url).origin, accountId: key.accountId };
    const signer = sign.bind(null, caller);
    return c.json(await answer(signer, call, sent, verdict, usage, Date.now()), 200);
  };

/** Otherwise `/:id` would match these paths. */
const otherMethods = openOnlyTo('POST');

/** The four calls of an application. */
export const applicationRoutes = new Hono<AppEnv>()
  .post('/verify', describe('verify'), answerCall('verify'))
  .post('/activate', describe('activate'), answerCall('activate'))
  .post('/heartbeat', describe('heartbeat'), answerCall('heartbeat'))
  .post('/deactivate', describe('deactivate'), answerCall('deactivate'))
  .all('/verify', otherMethods)
  .all('/activate', otherMethods)
  .all('/heartbeat', otherMethods)
  .all('/deactivate', otherMethods);

/** What a seller does with the seats of a license. */
export const activationRoutes = new Hono<AppEnv>()
  .get(
    '/:id/activations',
    endpoint({
      id: 'listActivations',
      tag: 'Applications',
      summary: 'List the machines that hold a license’s seats',
      description: 'Lists live activations, newest first.',
      access: 'account',
      query: z.object(pageQuery('act')),
      answers: [{ status: 200, description: 'A page of activations.', schema: activationListBody }],
      errors: ['license_not_found'],
    }),
    async (c) => c.json(await listActivations(c.var.ctx, c.req.param('id'), c.req.valid('query')), 200),
  )
  .get(
    '/:id/seat-history',
    endpoint({
      id: 'listSeatHistory',
      tag: 'Applications',
      summary: 'List when a license’s seats were taken, released, and refused',
      description:
        'Lists the latest 200 changes, and machines that found no seat, newest first. The end of a lease is not a change, because the machine may return.',
      access: 'account',
      query: z.object(numberedPageQuery),
      answers: [{ status: 200, description: 'A page of changes.', schema: seatHistoryBody }],
      errors: ['license_not_found'],
    }),
    async (c) => c.json(await listSeatChanges(c.var.ctx, c.req.param('id'), c.req.valid('query')), 200),
  )
  .delete(
    '/:id/activations/:activation_id',
    endpoint({
      id: 'releaseActivation',
      tag: 'Applications',
      summary: 'Release a machine’s seat',
      description: 'The seat is free from the response on. A seat that an offline file holds needs `force`.',
      access: 'account',
      query: releaseQuery,
      answers: [{ status: 200, description: 'The seat is free.', schema: deletedActivationBody }],
      errors: ['license_not_found', 'activation_not_found', 'invalid_transition'],
    }),
    async (c) => {
      const id = c.req.param('activation_id');
      const isForced = c.req.valid('query').force === 'true';
      await releaseActivation(c.var.ctx, c.req.param('id'), id, isForced);
      return c.json({ id, deleted: true as const }, 200);
    },
  )
  .post(
    '/:id/token',
    endpoint({
      id: 'issueOfflineToken',
      tag: 'Applications',
      summary: 'Issue an offline file',
      description:
        'Returns a token for a machine without a network. Takes the seat that the machine needs, and holds it until the token expires: a file can’t be revoked.',
      access: 'account',
      isRepeatable: true,
      body: offlineTokenInput,
      answers: [{ status: 200, description: 'The token.', schema: offlineTokenBody }],
      errors: ['license_not_found', 'invalid_transition', 'no_seat', 'storage_limit_reached'],
    }),
    async (c) => {
      const { origin } = new URL(c.req.url);
      return c.json(await issueOfflineToken(c.var.ctx, c.req.param('id'), c.req.valid('json'), origin), 200);
    },
  );
