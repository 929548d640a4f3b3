import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { type PageInput, toPage } from '../shared/pages.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { MAX_ENDPOINTS, OLD_SECRET_MS } from '../shared/rules/webhooks.ts';
import { readConfig } from '../shared/config.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import { newId } from '../shared/ids.ts';
import { seal, unseal } from '../shared/sealing.ts';
import { outboxOf } from '../shared/objects.ts';
import type { Endpoint } from './outbox-tables.ts';
import { urlRules } from './post.ts';
import { type createWebhookInput, type patchWebhookInput, toWebhook } from './schemas.ts';
import { newWebhookSecret } from './signing.ts';
import { webhookUrlProblem } from './url-rules.ts';

// What an account does with its endpoints. They live in its outbox; secrets leave and enter it sealed.

const checkUrl = ({ env }: Ctx, url: string, serviceHost: string) => {
  const problem = webhookUrlProblem(url, urlRules(env, serviceHost));
  if (problem) throw invalidField('url', problem);
};

const sealFor = ({ env, accountId }: Ctx, endpointId: string, secret: string) =>
  seal(readConfig(env).sealing, secret, [accountId, endpointId]);

export const findEndpoint = async ({ env, accountId }: Ctx, id: string): Promise<Endpoint> => {
  const endpoint = await outboxOf(env, accountId).getEndpoint(id);
  if (!endpoint) throw new AppError('webhook_not_found');
  return endpoint;
};

export const listEndpoints = async ({ env, accountId }: Ctx, { limit, cursor }: PageInput) => {
  const endpoints = await outboxOf(env, accountId).listEndpoints();
  const rest = endpoints.filter(({ id }) => cursor === undefined || id < cursor);
  return toPage(rest, limit, toWebhook);
};

export const createEndpoint = async (
  ctx: Ctx,
  input: z.output<typeof createWebhookInput>,
  serviceHost: string,
) => {
  checkUrl(ctx, input.url, serviceHost);
  const nowMs = Date.now();
  const id = newId('whe');
  const secret = newWebhookSecret();
  const endpoint: Endpoint = {
    id,
    url: input.url,
    description: input.description ?? null,
    events: input.events ?? null,
    sealedSecret: await sealFor(ctx, id, secret),
    oldSealedSecret: null,
    oldSecretUntilMs: null,
    disabledReason: null,
    failingSinceMs: null,
    serviceHost,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  if (!(await outboxOf(ctx.env, ctx.accountId).addEndpoint(endpoint, MAX_ENDPOINTS))) {
    throw invalidField(
      'url',
      `would be one more than the ${MAX_ENDPOINTS} endpoints that an account may have`,
    );
  }
  return { endpoint, secret };
};

export const revealEndpoint = async (ctx: Ctx, id: string) => {
  const endpoint = await findEndpoint(ctx, id);
  const secret = await unseal(readConfig(ctx.env).sealing, endpoint.sealedSecret, [ctx.accountId, id]);
  return { endpoint, secret };
};

const changeEndpoint = async (ctx: Ctx, id: string, fields: Partial<Endpoint>): Promise<Endpoint> => {
  const changed = await outboxOf(ctx.env, ctx.accountId).changeEndpoint(id, {
    ...fields,
    updatedAtMs: Date.now(),
  });
  if (!changed) throw new AppError('webhook_not_found');
  return changed;
};

/** Enabling an endpoint forgives it its past. */
const statusFields = (status: 'enabled' | 'disabled' | undefined): Partial<Endpoint> => {
  if (status === undefined) return {};
  return status === 'enabled' ? { disabledReason: null, failingSinceMs: null } : { disabledReason: 'by_you' };
};

export const patchEndpoint = async (
  ctx: Ctx,
  id: string,
  input: z.output<typeof patchWebhookInput>,
  serviceHost: string,
): Promise<Endpoint> => {
  if (input.url !== undefined) checkUrl(ctx, input.url, serviceHost);
  return changeEndpoint(ctx, id, {
    ...omitUndefined({ url: input.url, events: input.events, description: input.description }),
    ...(input.url !== undefined && { serviceHost }),
    ...statusFields(input.status),
  });
};

/** The old secret goes on signing for a day, beside the new one. */
export const rotateSecret = async (ctx: Ctx, id: string) => {
  const { sealedSecret } = await findEndpoint(ctx, id);
  const secret = newWebhookSecret();
  const endpoint = await changeEndpoint(ctx, id, {
    sealedSecret: await sealFor(ctx, id, secret),
    oldSealedSecret: sealedSecret,
    oldSecretUntilMs: Date.now() + OLD_SECRET_MS,
  });
  return { endpoint, secret };
};

export const deleteEndpoint = async ({ env, accountId }: Ctx, id: string): Promise<void> => {
  if (!(await outboxOf(env, accountId).deleteEndpoint(id))) throw new AppError('webhook_not_found');
};
