// Verifies the license keys of an API's customers. Answers from memory for a minute, and for an hour while the
// licensing service can't be reached.
import { createClient } from '@latchkey/client/api';

/** A revoked license works for at most this long. */
const FRESH_MS = 60_000;
/** A license that was valid goes on working for this long if the service doesn't answer. */
const STALE_IF_ERROR_MS = 3_600_000;
/** Bounds the memory that unknown keys can take. */
const MAX_ENTRIES = 10_000;
const TIMEOUT_MS = 3_000;

export const createVerifier = ({ baseUrl, apiKey, now = Date.now }) => {
  const api = createClient({ baseUrl, apiKey });
  const verdicts = new Map();
  const pending = new Map();

  const askService = async (licenseKey) => {
    const { data } = await api.POST('/api/v1/licenses/verify', {
      body: { license_key: licenseKey },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // Only a 200 says something about the license.
    if (!data) throw new Error('The licensing service gave no verdict.');
    const verdict = { valid: data.valid, status: data.status, checkedAtMs: now() };
    verdicts.delete(licenseKey);
    verdicts.set(licenseKey, verdict);
    const [oldest] = verdicts.keys();
    if (verdicts.size > MAX_ENTRIES && oldest !== undefined) verdicts.delete(oldest);
    return verdict;
  };

  /** Returns the verdict, or null if there is none: the service doesn't answer, and nothing recent is stored. */
  return async (licenseKey) => {
    const stored = verdicts.get(licenseKey);
    const ageMs = stored ? now() - stored.checkedAtMs : Infinity;
    if (stored && ageMs < FRESH_MS) return stored;
    const stale = stored?.valid && ageMs < STALE_IF_ERROR_MS ? stored : null;
    const call =
      pending.get(licenseKey) ??
      askService(licenseKey)
        .catch(() => null)
        .finally(() => pending.delete(licenseKey));
    pending.set(licenseKey, call);
    return (await call) ?? stale;
  };
};
