import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../shared/app-error.ts';
import { createEndpoint, listAllEndpoints } from '../webhooks/endpoints.ts';
import type { Import } from './batch.ts';
import type { Outcome } from './plan.ts';
import type { WebhookLine } from './schemas.ts';

/** Adds a webhook that the account doesn't have yet. It has a new secret, and is disabled until the seller enables it. */
export const importWebhook = async (
  { ctx, options, serviceHost }: Import,
  value: WebhookLine,
): Promise<Outcome> => {
  const { url, events = null, description = null } = value;
  const isSame = (known: { url: string; events: string[] | null; description: string | null }) =>
    known.url === url && known.description === description && isDeepStrictEqual(known.events, events);
  if ((await listAllEndpoints(ctx)).some(isSame)) return { result: 'unchanged' };
  if (options.isDryRun) return { result: 'created' };
  try {
    const { endpoint } = await createEndpoint(ctx, { url, events, description }, serviceHost, 'by_you');
    return { result: 'created', id: endpoint.id };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error;
    return {
      error: { code: error.code, message: 'Invalid Request', details: error.options.details ?? [] },
    };
  }
};
