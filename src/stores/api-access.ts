import type { StoreRow } from '../db/schema.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { readBytes } from '../shared/text/read-bytes.ts';
import { urlRules } from '../webhooks/post.ts';
import { webhookUrlProblem } from '../webhooks/url-rules.ts';
import type { ApiAccess, ApiRequest, StoreApi } from './provider/provider.ts';
import { unsealFor } from './secrets.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 5_000_000;

/** A provider's API did not answer, or not as it should. `status` is null if there was no answer. */
export class StoreApiError extends Error {
  readonly status: number | null;
  constructor(message: string, status: number | null, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreApiError';
    this.status = status;
  }
}

const bodyOf = ({ form, json }: ApiRequest) => {
  if (form) return new URLSearchParams(form);
  return json === undefined ? undefined : JSON.stringify(json);
};

const send = async (url: string, request: ApiRequest): Promise<Response> => {
  const body = bodyOf(request);
  try {
    return await fetch(url, {
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(request.json !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    throw new StoreApiError('The provider did not answer.', null, error);
  }
};

const readJson = async (response: Response): Promise<unknown> => {
  const { body, status } = response;
  const tooLarge = () => new StoreApiError('The provider’s answer is too large.', status);
  try {
    const bytes = await readBytes(body, MAX_ANSWER_BYTES, tooLarge);
    return bytes.byteLength === 0 ? null : JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof StoreApiError) throw error;
    throw new StoreApiError('The provider’s answer is not JSON.', status, error);
  }
};

/** Opens a provider's API with the store's key. Null if the store has none. */
export const openApi = async (env: Env, store: StoreRow, api: StoreApi | null): Promise<ApiAccess | null> => {
  if (!api || store.apiKey === null) return null;
  const key = await unsealFor(env, store, 'api_key', store.apiKey);
  const { storeApiBase } = settingsOf(env);
  const origin = storeApiBase === null ? api.origin(key) : `${storeApiBase}/${store.provider}`;
  return {
    key,
    call: async (path, request = {}) => {
      const url = `${origin}${path}`;
      const problem = webhookUrlProblem(url, urlRules(env, ''));
      if (problem) throw new StoreApiError(`The URL of the API ${problem}.`, null);
      const response = await send(url, request);
      if (response.ok) return readJson(response);
      await response.body?.cancel();
      throw new StoreApiError(`The provider answered with status ${response.status}.`, response.status);
    },
  };
};
