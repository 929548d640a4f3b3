import packageJson from '../../package.json' with { type: 'json' };
import { settingsOf } from '../shared/config/settings.ts';
import { unseal } from '../shared/crypto/sealing.ts';
import type { DeliveryJob } from './jobs.ts';
import type { Outcome } from './outcome.ts';
import { readRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signing.ts';
import { webhookUrlProblem } from './url-rules.ts';

const ATTEMPT_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 2_048;
const USER_AGENT = `Latchkey-Webhooks/${packageJson.version}`;

/** Reads the start of the response body. A body that breaks off or times out doesn't change the outcome. */
const readResponseStart = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    while (size < MAX_RESPONSE_BYTES) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value.subarray(0, MAX_RESPONSE_BYTES - size), { stream: true });
      size += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The connection broke or the attempt timed out.
  }
  return text;
};

const connectionError = (error: unknown): string =>
  error instanceof DOMException && error.name === 'TimeoutError'
    ? `no response within ${ATTEMPT_TIMEOUT_MS / 1_000} s`
    : 'the connection failed';

const statusError = (status: number): string | null => {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400
    ? 'redirects are not followed'
    : `the receiver responded with status ${status}`;
};

export const urlRules = (env: Env, serviceHost: string) => ({
  ownHosts: [serviceHost],
  allowLoopback: settingsOf(env).allowsLoopbackWebhooks,
});

const unsealAll = (env: Env, accountId: string, endpointId: string, { sealedSecrets }: DeliveryJob) => {
  const { sealing } = settingsOf(env);
  return Promise.all(sealedSecrets.map((sealed) => unseal(sealing, sealed, [accountId, endpointId])));
};

/** AbortSignal.timeout() would leave its timer behind for 15 s after each quick attempt, and what the timer refers to. */
const withTimeout = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const timedOut = new DOMException('The attempt timed out.', 'TimeoutError');
  const timer = setTimeout(() => controller.abort(timedOut), ATTEMPT_TIMEOUT_MS);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
};

const send = (job: DeliveryJob, secrets: string[], signal: AbortSignal): Promise<Response> => {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return fetch(job.url, {
    method: 'POST',
    redirect: 'manual',
    signal,
    headers: {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...signatureHeaders(secrets, { id: job.eventId, timestampSeconds, payload: job.payload }),
    },
    body: job.payload,
  });
};

/** Makes one attempt and returns its outcome. Throws only if a secret can't be unsealed, which isn't an attempt. */
export const post = async (
  env: Env,
  accountId: string,
  endpointId: string,
  job: DeliveryJob,
): Promise<Outcome> => {
  const atMs = Date.now();
  const failure = (error: string, response: Response | null = null): Outcome => ({
    ok: false,
    atMs,
    statusCode: response?.status ?? null,
    error,
    durationMs: Date.now() - atMs,
    response: null,
    retryAfterMs: null,
  });
  const problem = webhookUrlProblem(job.url, urlRules(env, job.serviceHost));
  if (problem) return failure(`the URL ${problem}`);
  const secrets = await unsealAll(env, accountId, endpointId, job);
  try {
    const { response, body } = await withTimeout(async (signal) => {
      const response = await send(job, secrets, signal);
      return { response, body: await readResponseStart(response) };
    });
    const error = statusError(response.status);
    return {
      ...failure(error ?? '', response),
      ok: error === null,
      error,
      response: body,
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), Date.now()),
    };
  } catch (error) {
    return failure(connectionError(error));
  }
};
