import { paymentFailed, planEnding, usageReached, webhookDisabled } from '../mail/account-templates.ts';
import { openOwner } from '../mail/owner.ts';
import { ownLimits } from '../shared/config/settings.ts';
import { coalesce } from '../shared/objects/coalesce.ts';
import type { ObjectContext } from '../shared/objects/context.ts';
import { within } from '../shared/objects/within.ts';
import type { MailTopic } from '../shared/rules/mail-topics.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { logError } from '../shared/text/log.ts';
import type { MailContent } from '../shared/text/mail-content.ts';
import type { DisabledReason } from './outbox-tables.ts';

// Emails the owner what may have no receiver. No event waits for that: what is to be sent is stored with the events.

/** Events that the owner also gets an email about. */
const MAILED_EVENTS = ['usage.threshold', 'payment.failed', 'plan.ending'] as const;
const OWNER_MAILS = 'owner_mails';

const SEND_MS = 10_000;
/** The alarm sends what an earlier process could not send. */
const ALARM_MS = 10_000;

/** What an email is about: the payload of an event, or a disabled webhook, of which no event tells. */
type Subject =
  | { event: 'usage.threshold'; percent: number; api_usage: number; api_limit: number }
  | { event: 'payment.failed'; plan: string; ends_at: string }
  | { event: 'plan.ending'; plan: string; ends_at: string; reason: 'cancelled' | 'payment_failed' }
  | { event: 'webhook.disabled'; host: string; reason: DisabledReason };

/** A subject as JSON. */
type Payload = string;

/** A quick check, because most events aren't for the owner. */
export const mayConcernOwner = (events: string): boolean =>
  MAILED_EVENTS.some((name) => events.includes(name));

export const mailedEvents = (events: WebhookEvent[]): Payload[] =>
  events.filter(({ name }) => MAILED_EVENTS.some((mailed) => mailed === name)).map(({ payload }) => payload);

/** Names the host alone, because the rest of a URL may be a secret. */
export const disabledWebhook = (url: string, reason: DisabledReason): Payload =>
  JSON.stringify({ event: 'webhook.disabled', host: new URL(url).host, reason } satisfies Subject);

const TOPICS: Record<Subject['event'], MailTopic> = {
  'usage.threshold': 'usage',
  'payment.failed': 'billing',
  'plan.ending': 'billing',
  'webhook.disabled': 'webhooks',
};

const contentOf = (subject: Subject): MailContent<'notice'> => {
  switch (subject.event) {
    case 'webhook.disabled':
      return webhookDisabled(subject.host, subject.reason === 'gone');
    case 'payment.failed':
      return paymentFailed(subject.plan, subject.ends_at);
    case 'plan.ending':
      return planEnding(subject.plan, subject.ends_at, subject.reason === 'payment_failed');
    case 'usage.threshold':
    default:
      return usageReached(subject.percent, subject.api_usage, subject.api_limit);
  }
};

export const openOwnerMails = ({ ctx, env, accountId, alarm, journal }: ObjectContext) => {
  const { kv } = ctx.storage;
  let waiting = kv.get<Payload[]>(OWNER_MAILS) ?? [];

  const save = (payloads: Payload[]) => {
    waiting = payloads;
    journal.write(() => (waiting.length === 0 ? kv.delete(OWNER_MAILS) : kv.put(OWNER_MAILS, waiting)));
  };

  const sendAll = async () => {
    const due = waiting;
    const tell = await openOwner(env, accountId);
    const failed: Payload[] = [];
    for (const payload of due) {
      const subject = JSON.parse(payload) as Subject;
      // A subscription may still run after the service has stopped selling plans. No mail speaks of plans then.
      if (TOPICS[subject.event] === 'billing' && ownLimits(env)) continue;
      if (!(await tell(TOPICS[subject.event], contentOf(subject)))) failed.push(payload);
    }
    // What was added meanwhile is behind the others, and may read like one of them.
    save([...failed, ...waiting.slice(due.length)]);
  };

  /** Goes on after its time is over, so that the next attempt waits for it and sends nothing twice. */
  let sending: Promise<void> | null = null;

  const send = coalesce(async () => {
    if (waiting.length === 0) return;
    sending ??= sendAll().finally(() => {
      sending = null;
    });
    await within(SEND_MS, sending);
  });

  alarm.add({
    failure: 'outbox_alarm_failed',
    dueMs: (nowMs) => (waiting.length > 0 ? nowMs + ALARM_MS : null),
    run: send,
  });

  return {
    /** Stores what the owner gets to know, in the transaction of its cause, and then begins to send it. */
    add: (added: Payload[]) => {
      if (added.length === 0) return;
      save([...waiting, ...added]);
      const sent = Promise.resolve()
        .then(send)
        .catch((error: unknown) => {
          logError('mail_not_sent', error, { account_id: accountId });
        });
      ctx.waitUntil(sent);
    },
  };
};
