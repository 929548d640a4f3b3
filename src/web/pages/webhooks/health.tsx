import { CircleAlert, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Webhook } from '../../data/queries.ts';
import { formatExact, formatRelative } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { cx } from '../../ui/cx.ts';
import { Time, useNow } from '../../ui/time.tsx';

const GIVEN_UP_AFTER_MS = 5 * 86_400_000;

type Health = Pick<Webhook, 'disabled_reason' | 'failing_since'>;

export const HealthBadge = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (reason) return <StateBadge tone={reason === 'by_you' ? 'plain' : 'bad'}>Disabled</StateBadge>;
  return since ? <StateBadge tone="warn">Failing</StateBadge> : <StateBadge tone="good">Enabled</StateBadge>;
};

const REASONS = { by_you: 'By you', gone: 'It answered 410, gone', failing: 'It failed for five days' };

/** A few words, for a row. */
export const HealthReason = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (reason) return REASONS[reason];
  return since ? (
    <>
      First failure <Time at={since} />
    </>
  ) : null;
};

const Notice = ({ isBad, title, children }: { isBad: boolean; title: string; children: ReactNode }) => {
  const Icon = isBad ? CircleAlert : CircleSlash;
  return (
    <div
      role="status"
      className={cx(
        'flex gap-3 rounded-xl border border-line px-5 py-3.5',
        isBad ? 'bg-warn-soft' : 'bg-surface shadow-card',
      )}
    >
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', isBad ? 'text-warn' : 'text-muted')} />
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className={isBad ? 'text-ink' : 'text-muted'}>{children}</p>
      </div>
    </div>
  );
};

const Failing = ({ since }: { since: string }) => {
  const nowMs = useNow();
  const endMs = Date.parse(since) + GIVEN_UP_AFTER_MS;
  const end = new Date(endMs).toISOString();
  return (
    <Notice isBad title="Attempts are failing">
      The first failed {formatRelative(since, nowMs)}, and none has succeeded since. They are retried; if that
      goes on until {formatExact(end)}, the webhook is disabled.
    </Notice>
  );
};

const AFTERWARDS =
  'What was pending has been given up. Once it is enabled again, you can resend what you want.';
const NOTICES = {
  by_you: { title: 'You disabled this webhook', words: `Nothing is sent to it. ${AFTERWARDS}` },
  gone: {
    title: 'Disabled, since it answered 410',
    words: `An endpoint that answers 410 (gone) wants no more events. ${AFTERWARDS}`,
  },
  failing: {
    title: 'Disabled, since it failed for five days',
    words: `Not one delivery succeeded. ${AFTERWARDS}`,
  },
};

/** What is the matter and what comes of it, where it is not well. */
export const HealthNotice = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (!reason) return since ? <Failing since={since} /> : null;
  const { title, words } = NOTICES[reason];
  return (
    <Notice isBad={reason !== 'by_you'} title={title}>
      {words}
    </Notice>
  );
};
