import type { CallInput, CallName } from '../../shared/rules/verdict.ts';
import { text } from './bytes.ts';
import type { Answer } from './changes.ts';
import type { Runtime, ClientSettings } from './options.ts';
import { openRequests } from './requests.ts';
import type { Session } from './session.ts';
import { freshVerdict } from './verdicts.ts';

export interface Result {
  /** Absent if nothing is known after the call that wasn't known before. */
  answer?: Answer | undefined;
  /** The code of an answer without a token, which is not signed. */
  code?: unknown;
  retryAfterMs: number;
}

/** Makes the four calls. Only a signed answer with the call's own nonce counts. */
export const openCalls = (settings: ClientSettings, runtime: Runtime, { ring, check, report }: Session) => {
  const send = openRequests(settings, runtime);

  return async (
    call: CallName,
    licenseKey: string,
    more: Pick<CallInput, 'name' | 'replace' | 'lease_seconds'>,
    signal: AbortSignal,
    /** Whether the application doesn't hear of a failure. */
    isQuiet = false,
  ): Promise<Result> => {
    const nonce = crypto.randomUUID();
    // Where no answer can be checked, none is paid for, and no seat is taken. A seat can be given back without a token.
    if (call !== 'deactivate' && !(await ring.isUsable())) {
      report({ kind: 'crypto', message: 'Ed25519 is missing here, or the keys are broken.' });
      return { retryAfterMs: 0 };
    }
    const input = {
      license_key: licenseKey,
      ...settings.application,
      platform: runtime.platform,
      ...more,
      nonce,
    } satisfies CallInput & { nonce: string };
    const { body, retryAfterMs, problem } = await send(`licenses/${call}`, input, signal);
    const token = text(body?.['token']);
    // A call that was ended by another one says nothing.
    if (!signal.aborted && !isQuiet) report(problem);
    if (!body || !token) return { code: body?.['code'], retryAfterMs };
    const checkAnswer = () => check(token, licenseKey, { kind: 'online', nonce });
    let result = await checkAnswer();
    if (result === 'kid') {
      // The service may sign with a newer key than those that are known.
      const keySet = await send(`jwks/${settings.keys.account}`, null, signal);
      await ring.follow(keySet.body?.['chain']);
      result = await checkAnswer();
    }
    if (typeof result !== 'string')
      return { answer: { verdict: freshVerdict(body, result), token }, retryAfterMs };
    report({ kind: 'crypto', message: `The token fails a check: ${result}`, status: 200 });
    return { retryAfterMs };
  };
};
