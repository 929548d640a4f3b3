import { firstDatabase } from '../db/client.ts';
import { letterTo, sendMail } from '../mail/send.ts';
import { usageReached } from '../mail/templates.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { logError } from '../shared/text/log.ts';
import { getUser } from '../users/user.ts';

const THRESHOLD = 'usage.threshold';

/** A quick check, because most events aren't for the owner. */
export const mayConcernOwner = (events: string): boolean => events.includes(THRESHOLD);

/** Emails the owner what may have no receiver. Call it before the events are stored, so that a crash repeats the email. */
export const mailOwner = async (env: Env, accountId: string, events: WebhookEvent[]): Promise<void> => {
  try {
    for (const { payload } of events.filter(({ name }) => name === THRESHOLD)) {
      const { percent, api_usage, api_limit } = JSON.parse(payload) as Record<string, number>;
      const user = await getUser({ firstDb: firstDatabase(env) }, accountId);
      await sendMail(env, letterTo(user, usageReached(percent ?? 0, api_usage ?? 0, api_limit ?? 0)));
    }
  } catch (error) {
    logError('mail_not_sent', error, { account_id: accountId });
  }
};
