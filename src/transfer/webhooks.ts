import { isDeepStrictEqual } from 'node:util';
import { MAX_ENDPOINTS } from '../shared/rules/webhooks.ts';
import { createEndpoint, listAllEndpoints } from '../webhooks/endpoints.ts';
import type { Import, KnownWebhook } from './import-state.ts';
import { type LineOutcome, refuse } from './plan.ts';
import { refusalOf, type WebhookLine } from './schemas.ts';

/** The refusals that are about the account or the caller, and not about the line. */
const NO_MORE = new Set(['storage_limit_reached', 'limit_reached', 'invalid_session', 'api_key_invalid']);

/** Adds a webhook that the account doesn't have yet. It has a new secret, and is disabled until the seller enables it. */
export const importWebhook = async (
  current: Import,
  { url, events = null, description = null }: WebhookLine,
): Promise<LineOutcome> => {
  const { ctx, options, serviceHost } = current;
  // Read once for all lines, because Cloudflare limits the calls of a request.
  current.webhooks ??= await listAllEndpoints(ctx);
  const isSame = (known: KnownWebhook) =>
    known.url === url && known.description === description && isDeepStrictEqual(known.events, events);
  if (current.webhooks.some(isSame)) return { result: 'unchanged' };
  // Each attempt would cost queries and calls, and a body has thousands of lines.
  if (current.noWebhooks) return { error: current.noWebhooks };
  if (current.webhooks.length >= MAX_ENDPOINTS)
    return refuse('limit_reached', `An account has at most ${MAX_ENDPOINTS} webhooks.`);
  const webhook = { url, events, description };
  if (options.isDryRun) {
    current.webhooks.push(webhook);
    return { result: 'created' };
  }
  try {
    const { endpoint } = await createEndpoint(ctx, webhook, serviceHost, 'by_you');
    current.webhooks.push(endpoint);
    return { result: 'created', id: endpoint.id };
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    if (NO_MORE.has(refusal.code)) current.noWebhooks = refusal;
    return { error: refusal };
  }
};
