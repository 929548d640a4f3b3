import { CircleAlert, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import { DAY_MS } from '../../../shared/rules/dates.ts';
import { DISABLE_AFTER_MS } from '../../../shared/rules/webhooks.ts';
import type { Webhook } from '../../data/webhook-queries.ts';
import { formatExact, formatRelative, plural } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { cx } from '../../ui/cx.ts';
import { Time, useNow } from '../../ui/time.tsx';

const DISABLED_AFTER = plural(DISABLE_AFTER_MS / DAY_MS, 'day');

type Health = Pick<Webhook, 'disabled_reason' | 'failing_since'>;

export const HealthBadge = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (reason) return <StateBadge tone={reason === 'by_you' ? 'plain' : 'bad'}>Disabled</StateBadge>;
  return since ? <StateBadge tone="warn">Failing</StateBadge> : <StateBadge tone="good">Enabled</StateBadge>;
};

const REASONS = {
  by_you: 'By you',
  gone: 'Responded 410 Gone twice',
  failing: `Failed for ${DISABLED_AFTER}`,
};

/** The short reason for a table row. */
export const HealthReason = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (reason) return REASONS[reason];
  return since ? (
    <>
      First failed <Time at={since} />
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
  const endMs = Date.parse(since) + DISABLE_AFTER_MS;
  const end = new Date(endMs).toISOString();
  return (
    <Notice isBad title="Deliveries are failing">
      The first attempt failed {formatRelative(since, nowMs)}, and none has succeeded since. If attempts keep
      failing until {formatExact(end)}, the webhook is disabled.
    </Notice>
  );
};

const CANCELED_DELIVERIES =
  'Pending deliveries were canceled. Once the webhook is enabled, you can send what it missed.';
const NOTICES = {
  by_you: { title: 'You disabled this webhook', text: `It receives no events. ${CANCELED_DELIVERIES}` },
  gone: {
    title: 'Disabled because it responded 410 Gone twice',
    text: `A 410 response means that your receiver wants no more events. ${CANCELED_DELIVERIES}`,
  },
  failing: {
    title: `Disabled because it failed for ${DISABLED_AFTER}`,
    text: `No delivery succeeded during that time. ${CANCELED_DELIVERIES}`,
  },
};

/** Explains why the webhook is failing or disabled, and what happens next. */
export const HealthNotice = ({ disabled_reason: reason, failing_since: since }: Health) => {
  if (!reason) return since ? <Failing since={since} /> : null;
  const { title, text } = NOTICES[reason];
  return (
    <Notice isBad={reason !== 'by_you'} title={title}>
      {text}
    </Notice>
  );
};
