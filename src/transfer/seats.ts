import { auditWorkWithinStorage, refuseEntry } from '../audit/audit.ts';
import type { ImportedMachine, ImportedMachineResult } from '../gate/rules/seller.ts';
import { TOO_MANY_CHANGES } from '../gate/worker/commit.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import type { BatchLine, Import } from './import-state.ts';
import type { LineOutcome } from './plan.ts';
import { type ActivationLine, auditDetails, type LineError, refusalOf } from './schemas.ts';

const toMachine = (value: ActivationLine): ImportedMachine => {
  const { last_seen_at = value.activated_at, last_counted_at = last_seen_at } = value;
  return {
    licenseKey: value.license_key,
    fingerprint: value.fingerprint,
    name: value.name ?? null,
    platform: value.platform ?? null,
    appVersion: value.app_version ?? null,
    seat: {
      activatedAtMs: value.activated_at,
      lastSeenAtMs: last_seen_at,
      countedAtMs: last_counted_at,
      leaseUntilMs: value.lease_until ?? null,
      fileUntilMs: value.file_until ?? null,
      releasedAtMs: value.released_at ?? null,
    },
  };
};

const OUTCOMES: Record<ImportedMachineResult, LineOutcome> = {
  created: { result: 'created' },
  unchanged: { result: 'unchanged' },
  skipped: { result: 'skipped' },
  no_seat: { error: { code: 'no_seat', message: 'The license has no free seat.' } },
  storage_limit_reached: {
    error: { code: 'storage_limit_reached', message: 'Machines take as much storage as they may.' },
  },
  license_not_found: { error: { code: 'license_not_found', message: 'License Not Found' } },
  too_many_changes: { error: { code: 'rate_limit_exceeded', message: TOO_MANY_CHANGES } },
};

/**
 * No batch can include the gate, so an import that has changed nothing in the database has its entry in the audit log before
 * machines are sent. Returns why there is none: the account stores as much as it may.
 */
const record = async (current: Import): Promise<LineError | null> => {
  const { ctx, options } = current;
  if (options.isDryRun || current.isRecorded) return null;
  try {
    const entry = auditWorkWithinStorage(ctx, current.entryId, 'license.import', auditDetails(options));
    await entry.catch(refuseEntry);
    current.isRecorded = true;
    return null;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) return refusal;
    throw error;
  }
};

/** Sends machines to the account's gate. */
const sendMachines = async (current: Import, values: ActivationLine[]): Promise<LineOutcome[]> => {
  const { ctx, options } = current;
  if (values.length === 0) return [];
  const refusal = await record(current);
  if (refusal) return values.map(() => ({ error: refusal }));
  const results = await gateOf(ctx.env, ctx.accountId).importSeats(values.map(toMachine), options.isDryRun);
  if (!results) throw new AppError('unavailable');
  return results.map((result) => OUTCOMES[result]);
};

/** Adds the machines of the activation lines to the account's gate, with one call. */
export const importSeats = async (
  current: Import,
  lines: BatchLine[],
): Promise<Map<BatchLine, LineOutcome>> => {
  const found = lines.flatMap((line) => (line.type === 'activation' ? [{ line, value: line.value }] : []));
  // A dry run has not created these licenses, so the gate doesn't know them.
  const isAssumed = ({ value }: { value: ActivationLine }) =>
    current.assumed.licenses.get(value.license_key)?.before === null;
  const known = found.filter((activation) => !isAssumed(activation));
  const results = await sendMachines(
    current,
    known.map(({ value }) => value),
  );
  return new Map([
    ...found.filter(isAssumed).map(({ line }) => [line, OUTCOMES.created] as const),
    ...known.map(({ line }, i) => [line, results[i] ?? OUTCOMES.skipped] as const),
  ]);
};
