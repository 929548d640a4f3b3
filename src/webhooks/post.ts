import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../shared/config.ts';
import { unseal } from '../shared/sealing.ts';
import type { Outcome } from './outcome.ts';
import { readRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signing.ts';
import { webhookUrlProblem } from './url-rules.ts';
import type { Job } from './jobs.ts';

export const ATTEMPT_TIMEOUT_MS = 15_000;
const KEEP_BYTES = 2_048;
const USER_AGENT = `Latchkey-Webhooks/${packageJson.version}`;

/** The beginning of what the receiver said. The rest is not waited for, and its status stands without it. */
const readStart = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    while (size < KEEP_BYTES) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value.subarray(0, KEEP_BYTES - size), { stream: true });
      size += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // It broke off, or went on for longer than an attempt may take.
  }
  return text;
};

const explain = (error: unknown): string =>
  error instanceof DOMException && error.name === 'TimeoutError'
    ? `no answer within ${ATTEMPT_TIMEOUT_MS / 1_000} s`
    : 'the connection failed';

const explainStatus = (status: number): string | null => {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirects are not followed' : `the receiver answered ${status}`;
};

export const urlRules = (env: Env, serviceHost: string) => ({
  ownHosts: [serviceHost],
  allowLoopback: env.WEBHOOK_ALLOW_LOOPBACK === 'true',
});

const unsealAll = (env: Env, accountId: string, endpointId: string, { sealedSecrets }: Job) => {
  const { sealing } = readConfig(env);
  return Promise.all(sealedSecrets.map((sealed) => unseal(sealing, sealed, [accountId, endpointId])));
};

const send = (job: Job, secrets: string[]): Promise<Response> => {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return fetch(job.url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...signatureHeaders(secrets, { id: job.eventId, timestampSeconds, payload: job.payload }),
    },
    body: job.payload,
  });
};

/** One attempt, whatever comes of it. A secret that can't be opened is our fault and no attempt: it throws. */
export const post = async (env: Env, accountId: string, endpointId: string, job: Job): Promise<Outcome> => {
  const atMs = Date.now();
  const failed = (error: string, response: Response | null = null): Outcome => ({
    ok: false,
    atMs,
    statusCode: response?.status ?? null,
    error,
    durationMs: Date.now() - atMs,
    response: null,
    retryAfterMs: null,
  });
  const problem = webhookUrlProblem(job.url, urlRules(env, job.serviceHost));
  if (problem) return failed(`the URL ${problem}`);
  const secrets = await unsealAll(env, accountId, endpointId, job);
  let response: Response | null = null;
  try {
    response = await send(job, secrets);
    const body = await readStart(response);
    const error = explainStatus(response.status);
    return {
      ...failed(error ?? '', response),
      ok: error === null,
      error,
      response: body,
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), Date.now()),
    };
  } catch (error) {
    return failed(explain(error), response);
  }
};
