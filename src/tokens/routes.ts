import { Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { openOnlyTo } from '../http/response-headers.ts';
import { createVisitorRate } from '../http/visitor-rate.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { VISITOR_PACE } from '../shared/rules/paces.ts';
import { idPattern } from '../shared/text/ids.ts';
import { keySetOf } from './jws.ts';
import { deriveKeys } from './keys.ts';

const keySetBody = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().meta({ description: 'The key’s RFC 7638 thumbprint.' }),
        use: z.literal('sig'),
      }),
    ),
    chain: z.array(z.string()).meta({
      description:
        'For each newer key, oldest first: a JWS by the key before it, with type `latchkey+keys`, that names the newer key.',
    }),
  })
  .meta({ id: 'KeySet' });

/** Each call derives keys and signs their chain, and nothing is remembered, because any id has keys. */
const admitVisitor = createVisitorRate(VISITOR_PACE.callsPerSecond);

const ACCOUNT_ID = idPattern('acct');

export const tokenRoutes = new Hono<AppEnv>()
  .get(
    '/:account_id',
    endpoint({
      id: 'getKeySet',
      tag: 'Applications',
      summary: 'Get the public keys that check an account’s tokens',
      description:
        'The current key and the retired ones, as a JSON Web Key Set. Any well-formed account id has keys. An IP address may make 20 calls a second. Web pages of any origin can call this endpoint.',
      access: 'public',
      anyOrigin: true,
      answers: [{ status: 200, description: 'The key set.', schema: keySetBody }],
      errors: ['not_found', 'rate_limit_exceeded'],
    }),
    async (c) => {
      const accountId = c.req.param('account_id');
      if (!ACCOUNT_ID.test(accountId)) throw new AppError('not_found');
      admitVisitor(c);
      const keys = await deriveKeys(settingsOf(c.env).signingKeys, accountId);
      const keySet = await keySetOf(accountId, keys);
      c.header('Cache-Control', 'public, max-age=300');
      return c.json(keySet, 200);
    },
  )
  .all('/:account_id', openOnlyTo('GET'));
