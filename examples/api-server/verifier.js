// Verifies the license keys of an API's customers. Answers from memory for a minute, and for an hour while the
// licensing service can't be reached.
import { createClient } from '@latchkey/client/api';
import { createStrangers } from './strangers.js';

/** A revoked license works for at most this long. */
const FRESH_MS = 60_000;
/** A license that was valid goes on working for this long if the service doesn't answer. */
const STALE_IF_ERROR_MS = 3_600_000;
/** Bounds the memory. */
const MAX_ENTRIES = 10_000;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Whether the last character is the check character of a generated key: a weighted sum in GF(32) is 0. */
const isChecked = (plain) => {
  let sum = 0;
  for (const character of plain)
    sum = (sum & 16 ? (sum << 1) ^ 0b100101 : sum << 1) ^ CROCKFORD.indexOf(character);
  return sum === 0;
};

/**
 * What is remembered for a key. All spellings of a generated one are the same: otherwise, each would be another call. A key
 * of your own has only one spelling.
 */
const entryOf = (typed) => {
  const plain = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{25}$/.test(plain) && isChecked(plain) ? plain : typed;
};

export const createVerifier = ({ baseUrl, apiKey, product, timeoutMs = 3_000, now = Date.now }) => {
  const api = createClient({ baseUrl, apiKey });
  // Two maps, so that keys that strangers make up can't push out a customer.
  const customers = new Map();
  const refused = new Map();
  const pending = new Map();
  const strangers = createStrangers(now);
  let failedAtMs = -Infinity;

  /** For the operator: to customers, a wrong API key looks like an outage. */
  const logFailure = (error) => {
    console.error(`No verdict: ${error.cause?.code ?? error.message}`);
    failedAtMs = now();
    return null;
  };

  const remember = (entry, verdict) => {
    customers.delete(entry);
    refused.delete(entry);
    const verdicts = verdict.valid ? customers : refused;
    verdicts.set(entry, verdict);
    const [oldest] = verdicts.keys();
    if (verdicts.size > MAX_ENTRIES && oldest !== undefined) verdicts.delete(oldest);
  };

  /** Latchkey itself reads each spelling, so it gets the key as it was typed. */
  const askService = async (licenseKey) => {
    const { data, error, response } = await api.POST('/api/v1/licenses/verify', {
      body: { license_key: licenseKey, product },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Only a 200 says something about the license.
    if (!data) throw new Error(`Latchkey answered ${response.status} ${error?.error?.code ?? ''}`);
    const code = 'code' in data ? data.code : data.status;
    const verdict = { valid: data.valid, code, checkedAtMs: now() };
    remember(entryOf(licenseKey), verdict);
    return verdict;
  };

  /** Asks about a key that, as far as is known, doesn't exist. */
  const askForStranger = async (licenseKey, address) => {
    // During an outage, a key that is sent again need not be unknown.
    if (!strangers.admit(address))
      return now() - failedAtMs < FRESH_MS ? null : { valid: false, code: 'too_many_unknown_keys' };
    const verdict = await askService(licenseKey);
    if (verdict.code !== 'not_found') strangers.readmit(address);
    return verdict;
  };

  /**
   * Returns the verdict for the caller at an address, or null if there is none: the service doesn't answer, and nothing
   * recent is stored.
   */
  return async (licenseKey, address) => {
    const entry = entryOf(licenseKey);
    const stored = customers.get(entry) ?? refused.get(entry);
    const ageMs = stored ? now() - stored.checkedAtMs : Infinity;
    if (stored && ageMs < FRESH_MS) return stored;
    const stale = stored?.valid && ageMs < STALE_IF_ERROR_MS ? stored : null;
    const isKnown = stored !== undefined && stored.code !== 'not_found';
    const call =
      pending.get(entry) ??
      (isKnown ? askService(licenseKey) : askForStranger(licenseKey, address))
        .catch(logFailure)
        .finally(() => pending.delete(entry));
    pending.set(entry, call);
    return (await call) ?? stale;
  };
};
