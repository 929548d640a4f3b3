import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../http/context.ts';
import { errorResponse } from '../http/errors.ts';
import { withIdempotency } from '../http/idempotency.ts';
import { type InputOf, readInputs } from '../http/input.ts';
import { documented, type EndpointDocs } from '../http/openapi.ts';
import { AppError } from '../shared/app-error.ts';
import { admitKey, authenticate, requireKey } from './authenticate.ts';

/** Returns why the caller is refused. Throwing it would cost more than the decision. */
const refuseCaller = (c: Context<AppEnv>, docs: EndpointDocs) => {
  if (docs.access === 'public') return null;
  return docs.access === 'key' ? requireKey(c) : authenticate(c, docs);
};

/** Whether the call wants a fresh proof that the caller's session doesn't have. An API key is its own proof. */
const lacksProof = async (c: Context<AppEnv>, { wantsProof }: EndpointDocs): Promise<boolean> => {
  if (!wantsProof || (c.get('provedUntilMs') ?? Infinity) > Date.now()) return false;
  return wantsProof === true || wantsProof(c);
};

/**
 * Describes a route: who may call it, what it takes, and what it answers. Refuses other callers and other input, and documents
 * the route in the OpenAPI document.
 *
 * @example
 * .patch(
 *   '/:id',
 *   endpoint({
 *     id: 'patchWebhook',
 *     tag: 'Webhooks',
 *     summary: 'Update a webhook',
 *     access: 'account',
 *     body: patchWebhookInput,
 *     answers: [{ status: 200, description: 'The updated webhook.', schema: webhookBody }],
 *     errors: ['webhook_not_found'],
 *   }),
 *   async (c) => c.json(await patchWebhook(c.var.ctx, c.req.param('id'), c.req.valid('json')), 200),
 * )
 */
export const endpoint = <D extends EndpointDocs>(docs: D): MiddlewareHandler<AppEnv, string, InputOf<D>> => {
  const middleware: MiddlewareHandler<AppEnv> = async (c, next) => {
    if (docs.anyOrigin) c.set('anyOrigin', true);
    const refusal = await refuseCaller(c, docs);
    if (refusal) return errorResponse(c, refusal);
    try {
      await readInputs(c, docs);
      if (await lacksProof(c, docs)) throw new AppError('reauthentication_required');
      if (docs.isRepeatable) c.set('ctx', withIdempotency(c, docs.id));
      if (docs.takesIfMatch) c.set('ctx', { ...c.var.ctx, ifMatch: c.req.header('if-match') });
    } catch (error) {
      // Invalid input spends the key's rate, too.
      if (docs.access !== 'key') throw error;
      const overRate = await admitKey(c, c.get('key'), 'verify');
      if (!overRate) throw error;
      return errorResponse(c, overRate);
    }
    return next();
  };
  return documented(middleware, docs);
};
