import { logError } from '../../shared/text/log.ts';
import type { GateParts } from './parts.ts';

/** The platform retries a failing alarm only six times, so this catches errors and arms the alarm again. */
export const runAlarm = async ({
  accountId,
  upkeep,
  catchUp,
  relay,
  changes,
  pull,
  reportState,
}: GateParts) => {
  upkeep.alarmStarted();
  const startedMs = Date.now();
  // Run independently, because either D1 or the outbox may be unavailable.
  const results = await Promise.allSettled([
    upkeep.needsPull() ? pull() : null,
    upkeep.isReloadDue(Date.now()) ? catchUp.loadPage() : null,
    relay.forward(),
  ]);
  const failed = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failed) logError('gate_alarm_failed', reason, { account_id: accountId });
  if (failed.length === 0) changes.refundUncommitted(startedMs);
  await upkeep.alarmFinished(failed.length > 0);
  await reportState();
};
