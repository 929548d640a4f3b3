import { Link } from '@tanstack/react-router';
import type { Webhook } from '../../data/webhook-queries.ts';
import { formatDate } from '../../lib/format.ts';
import { cx } from '../../ui/cx.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ROW_LINK, Td, Th, Tr } from '../../ui/table.tsx';
import { EventNames } from './events.tsx';
import { HealthBadge, HealthReason } from './health.tsx';

const WIDE = 'max-xl:hidden';
const MIDDLE = 'max-md:hidden';
const FIRST = 'w-1/2 max-w-0 max-md:w-full xl:w-2/5';

export const WEBHOOK_HEAD = (
  <>
    <Th>Webhook</Th>
    <Th className={MIDDLE}>Health</Th>
    <Th className={MIDDLE}>Events</Th>
    <Th className={WIDE}>Created</Th>
  </>
);

export const WebhookRow = ({ webhook }: { webhook: Webhook }) => (
  <Tr className="relative">
    <Td className={FIRST}>
      <Link
        to="/webhooks/$id"
        params={{ id: webhook.id }}
        className={cx('block truncate font-medium', ROW_LINK)}
      >
        {webhook.url}
      </Link>
      {webhook.description && (
        <span className="block truncate text-xs text-muted">{webhook.description}</span>
      )}
      <span className="flex flex-wrap items-center gap-x-2 py-1 text-xs text-muted md:hidden">
        <HealthBadge {...webhook} />
        <span>
          <HealthReason {...webhook} />
        </span>
      </span>
    </Td>
    <Td className={MIDDLE}>
      <HealthBadge {...webhook} />
      <span className="mt-0.5 block text-xs whitespace-nowrap text-muted empty:hidden">
        <HealthReason {...webhook} />
      </span>
    </Td>
    <Td className={MIDDLE}>
      <EventNames events={webhook.events} />
    </Td>
    <Td className={WIDE}>
      <time dateTime={webhook.created_at} className="nums whitespace-nowrap">
        {formatDate(webhook.created_at)}
      </time>
    </Td>
  </Tr>
);

export const WebhookRowSkeletons = () =>
  Array.from({ length: 4 }, (_, row) => (
    <tr key={row}>
      <Td className={FIRST}>
        <Skeleton className="h-3.5 w-4/5" />
      </Td>
      <Td className={MIDDLE}>
        <Skeleton className="h-5.5 w-20" />
      </Td>
      <Td className={MIDDLE}>
        <Skeleton className="h-5.5 w-24" />
      </Td>
      <Td className={WIDE}>
        <Skeleton className="h-3.5 w-20" />
      </Td>
    </tr>
  ));
