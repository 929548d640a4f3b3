import type * as z from 'zod';
import { audited } from '../audit/audited.ts';
import { auditRead } from '../audit/reads.ts';
import type { Ctx } from '../db/ctx.ts';
import { wasDeleted } from '../db/idempotency.ts';
import { undoIfEnded } from '../sessions/caller.ts';
import { AppError, invalidField, limitReached } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { seal, unseal } from '../shared/crypto/sealing.ts';
import { outboxOf } from '../shared/objects/address.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { MAX_ENDPOINTS, MAX_SECRETS } from '../shared/rules/webhooks.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import { newId } from '../shared/text/ids.ts';
import { NO_FAILURES, nextRotationMs } from './endpoint-store.ts';
import type { Endpoint } from './outbox-tables.ts';
import { urlRules } from './post.ts';
import { type createWebhookInput, type patchWebhookInput, toWebhook } from './schemas.ts';
import { newWebhookSecret } from './signing.ts';
import { webhookUrlProblem } from './url-rules.ts';

// Webhook endpoints, which the account's outbox stores. The outbox only ever sees sealed secrets.

const checkUrl = ({ env }: Ctx, url: string, serviceHost: string) => {
  const problem = webhookUrlProblem(url, urlRules(env, serviceHost));
  if (problem) throw invalidField('url', problem);
};

const sealSecret = ({ env, accountId }: Ctx, endpointId: string, secret: string) =>
  seal(settingsOf(env).sealing, secret, [accountId, endpointId]);

export const findEndpoint = async ({ env, accountId }: Ctx, id: string): Promise<Endpoint> => {
  const endpoint = await outboxOf(env, accountId).getEndpoint(id);
  if (!endpoint) throw new AppError('webhook_not_found');
  return endpoint;
};

export const listAllEndpoints = ({ env, accountId }: Ctx): Promise<Endpoint[]> =>
  outboxOf(env, accountId).listEndpoints();

export const listEndpoints = async ({ env, accountId }: Ctx, { limit, cursor }: PageInput) => {
  const endpoints = await outboxOf(env, accountId).listEndpoints();
  const remaining = endpoints.filter(({ id }) => cursor === undefined || id < cursor);
  return toPage(remaining, limit, toWebhook);
};

const tooManyEndpoints = () =>
  limitReached('webhooks', `An account has at most ${MAX_ENDPOINTS} webhooks. Delete one first.`);

const unsealSecret = ({ env, accountId }: Ctx, { id, sealedSecret }: Endpoint) =>
  unseal(settingsOf(env).sealing, sealedSecret, [accountId, id]);

const updateEndpoint = async (
  ctx: Ctx,
  id: string,
  fields: Partial<Endpoint>,
  onceId: string | null,
): Promise<Endpoint> => {
  const changed = { ...fields, updatedAtMs: Date.now() };
  const endpoint = await outboxOf(ctx.env, ctx.accountId).updateEndpoint(id, changed, onceId);
  if (!endpoint) throw new AppError('webhook_not_found');
  return endpoint;
};

/** Returns the fields that a status change sets. Enabling an endpoint resets its failure history. */
const statusFields = (status: 'enabled' | 'disabled' | undefined): Partial<Endpoint> => {
  if (status === undefined) return {};
  return status === 'enabled'
    ? { disabledReason: null, disabledAtMs: null, ...NO_FAILURES }
    : { disabledReason: 'by_you', disabledAtMs: Date.now() };
};

const newEndpoint = (
  { url, description = null, events = null }: z.output<typeof createWebhookInput>,
  fields: Pick<Endpoint, 'id' | 'sealedSecret' | 'disabledReason' | 'serviceHost'>,
): Endpoint => {
  const nowMs = Date.now();
  const times = { disabledAtMs: nowMs, createdAtMs: nowMs, updatedAtMs: nowMs };
  return {
    url,
    urlRevision: 0,
    description,
    events,
    earlierSecrets: [],
    ...NO_FAILURES,
    ...times,
    ...fields,
  };
};

export const createEndpoint = async (
  ctx: Ctx,
  input: z.output<typeof createWebhookInput>,
  serviceHost: string,
  disabledReason: Endpoint['disabledReason'] = null,
) => {
  checkUrl(ctx, input.url, serviceHost);
  const outbox = () => outboxOf(ctx.env, ctx.accountId);
  const newWebhookId = newId('whe');
  return audited(ctx, ['webhook.create', newWebhookId], {
    makesId: newWebhookId,
    check: async () => {
      if ((await listAllEndpoints(ctx)).length >= MAX_ENDPOINTS) throw tooManyEndpoints();
    },
    makeChange: async (onceId) => {
      const id = onceId ?? newWebhookId;
      const sealedSecret = await sealSecret(ctx, id, newWebhookSecret());
      const wanted = { id, sealedSecret, disabledReason: disabledReason ?? ('by_you' as const), serviceHost };
      const endpoint = newEndpoint(input, wanted);
      const add = async () => outbox().addEndpoint(endpoint, MAX_ENDPOINTS, onceId);
      // Repeated once, because an outbox that restarts can save the endpoint without a response.
      if (!(await add().catch(add))) throw tooManyEndpoints();
      // An earlier call with the same Idempotency-Key may have added it, with another secret.
      const added = await outbox().getEndpoint(id);
      if (!added) throw wasDeleted();
      // It sends nothing before it is known that its caller has not been ended.
      await undoIfEnded(ctx, async () => outbox().deleteEndpoint(id));
      const secret = await unsealSecret(ctx, added);
      if (disabledReason !== null) return { endpoint: added, secret };
      const enabledOnce = onceId === null ? null : `${onceId} enabled`;
      return { endpoint: await updateEndpoint(ctx, id, statusFields('enabled'), enabledOnce), secret };
    },
  });
};

export const revealEndpoint = async (ctx: Ctx, id: string) => {
  const endpoint = await findEndpoint(ctx, id);
  // Before the answer, so that no secret is revealed without an entry.
  await auditRead(ctx, 'webhook.reveal', id);
  return { endpoint, secret: await unsealSecret(ctx, endpoint) };
};

export const patchEndpoint = async (
  ctx: Ctx,
  id: string,
  input: z.output<typeof patchWebhookInput>,
  serviceHost: string,
): Promise<Endpoint> => {
  if (input.url !== undefined) checkUrl(ctx, input.url, serviceHost);
  const { url, events, description, status } = input;
  const endpoint = await audited(ctx, ['webhook.update', id, { fields: Object.keys(input) }], {
    check: () => findEndpoint(ctx, id),
    makeChange: (onceId) => {
      const fields = {
        ...omitUndefined({ url, events, description }),
        ...(url !== undefined && { serviceHost }),
        ...statusFields(status),
      };
      return updateEndpoint(ctx, id, fields, onceId);
    },
  });
  await undoIfEnded(ctx, async (plain) => {
    // It may send elsewhere now, or again.
    if (url !== undefined || status === 'enabled') await stopEndpoint(plain, id);
  });
  return endpoint;
};

/** Disables an endpoint, which keeps what it misses. */
export const stopEndpoint = (ctx: Ctx, id: string): Promise<Endpoint> =>
  audited(ctx, ['webhook.update', id, { fields: ['status'] }], {
    check: () => findEndpoint(ctx, id),
    makeChange: (onceId) => updateEndpoint(ctx, id, statusFields('disabled'), onceId),
    isBeyondLimits: true,
  });

const secretsExhausted = (endpoint: Endpoint) =>
  limitReached(
    'secrets',
    `At most ${MAX_SECRETS} secrets of a webhook sign at a time. The next rotation is possible from ${isoTime(nextRotationMs(endpoint))}.`,
  );

/** Replaces the secret. The old secret also keeps signing for a day. */
export const rotateSecret = async (ctx: Ctx, id: string) => {
  const sealedSecret = await sealSecret(ctx, id, newWebhookSecret());
  const rotated = await audited(ctx, ['webhook.rotate_secret', id], {
    check: async () => {
      const endpoint = await findEndpoint(ctx, id);
      if (Date.now() < nextRotationMs(endpoint)) throw secretsExhausted(endpoint);
    },
    makeChange: async (onceId) => {
      const endpoint = await outboxOf(ctx.env, ctx.accountId).rotateSecret(id, sealedSecret, onceId);
      if (!endpoint) throw secretsExhausted(await findEndpoint(ctx, id));
      return { endpoint, secret: await unsealSecret(ctx, endpoint) };
    },
  });
  // The old secret still signs, and nobody has the new one before the answer.
  await undoIfEnded(ctx, async () => {});
  return rotated;
};

export const deleteEndpoint = (ctx: Ctx, id: string): Promise<void> =>
  audited(ctx, ['webhook.delete', id], {
    check: () => findEndpoint(ctx, id),
    makeChange: async () => {
      const isDeleted = await outboxOf(ctx.env, ctx.accountId).deleteEndpoint(id);
      if (!isDeleted) throw new AppError('webhook_not_found');
    },
    isBeyondLimits: true,
  });
