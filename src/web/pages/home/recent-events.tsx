import { Link } from '@tanstack/react-router';
import {
  Activity,
  BadgeCheck,
  Ban,
  CalendarPlus,
  CalendarX,
  CircleAlert,
  CirclePause,
  CirclePlay,
  CircleSlash,
  CreditCard,
  FlaskConical,
  Gauge,
  ShoppingCart,
  Hourglass,
  KeyRound,
  type LucideIcon,
  MonitorCheck,
  MonitorOff,
  MonitorX,
  Pencil,
  Plus,
  Trash2,
} from 'lucide-react';
import { formatMoney } from '../../../shared/rules/money.ts';
import type { Dashboard } from '../../data/queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

type Event = Dashboard['recent_events'][number];

interface Kind {
  icon: LucideIcon;
  title: string;
}

const KINDS: Record<Event['event'], Kind> = {
  'license.created': { icon: Plus, title: 'License created' },
  'license.verified': { icon: BadgeCheck, title: 'License verified' },
  'license.updated': { icon: Pencil, title: 'License changed' },
  'license.renewed': { icon: CalendarPlus, title: 'License renewed' },
  'license.suspended': { icon: CirclePause, title: 'License suspended' },
  'license.reinstated': { icon: CirclePlay, title: 'License reinstated' },
  'license.revoked': { icon: Ban, title: 'License revoked' },
  'license.key_rotated': { icon: KeyRound, title: 'License key replaced' },
  'license.deleted': { icon: Trash2, title: 'License deleted' },
  'license.expiring': { icon: Hourglass, title: 'License expires soon' },
  'license.expired': { icon: CalendarX, title: 'License expired' },
  'payment.success': { icon: CreditCard, title: 'Your payment succeeded' },
  'payment.failed': { icon: CircleAlert, title: 'Your payment failed' },
  'payment.refunded': { icon: CircleAlert, title: 'Your payment was refunded' },
  'plan.ending': { icon: CircleAlert, title: 'Your plan is about to end' },
  'payment.disputed': { icon: CircleAlert, title: 'Your payment was disputed' },
  'subscription.cancelled': { icon: CircleSlash, title: 'Your subscription was canceled' },
  'activation.created': { icon: MonitorCheck, title: 'Seat taken' },
  'activation.released': { icon: MonitorX, title: 'Seat released' },
  'activation.refused': { icon: MonitorOff, title: 'Machine refused' },
  'purchase.fulfilled': { icon: ShoppingCart, title: 'Purchase fulfilled' },
  'purchase.refunded': { icon: ShoppingCart, title: 'Purchase refunded' },
  'purchase.unmapped': { icon: ShoppingCart, title: 'Purchase without an offer' },
  'purchase.failed': { icon: ShoppingCart, title: 'Purchase failed' },
  'usage.threshold': { icon: Gauge, title: 'Usage limit near' },
  'webhook.test': { icon: FlaskConical, title: 'Test event sent' },
};

/** A page that was loaded before a deployment doesn't know the events that came with it. */
const kindOf = (name: string): Kind =>
  new Map<string, Kind>(Object.entries(KINDS)).get(name) ?? { icon: Activity, title: name };

const text = (value: unknown) => (typeof value === 'string' ? value : '');

const LINK = 'underline decoration-line-strong underline-offset-4 hover:decoration-ink';

/** What an event is about. */
const Subject = ({ payload }: Pick<Event, 'payload'>) => {
  const licenseId = text(payload['license_id']);
  if (licenseId !== '') {
    return (
      <Link to="/licenses/$id" params={{ id: licenseId }} className={`font-mono text-xs ${LINK}`}>
        {text(payload['license_key'])}
      </Link>
    );
  }
  const purchaseId = text(payload['purchase_id']);
  if (purchaseId !== '') {
    return (
      <Link to="/purchases/$id" params={{ id: purchaseId }} className={LINK}>
        {text(payload['order']) || purchaseId}
      </Link>
    );
  }
  const { amount, currency, percent } = payload;
  if (typeof percent === 'number') return `${percent}%`;
  const price = typeof amount === 'number' ? `, ${formatMoney(amount, text(currency))}` : '';
  return <span className="capitalize">{text(payload['plan']) + price}</span>;
};

const Row = ({ event }: { event: Event }) => {
  const { icon: Icon, title } = kindOf(event.event);
  return (
    <li className="flex min-h-12 items-center gap-3 px-5 py-2 text-sm">
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <div className="grid min-w-0 flex-1 gap-x-4 sm:grid-cols-[14rem_minmax(0,1fr)_minmax(0,14rem)] sm:items-center">
        <span className="font-medium">{title}</span>
        <span className="truncate">
          <Subject payload={event.payload} />
        </span>
        <span className="truncate text-muted max-sm:hidden">{text(event.payload['customer_email'])}</span>
      </div>
      <span className="w-24 text-right text-muted">
        <Time at={event.created_at} />
      </span>
    </li>
  );
};

export const RecentEvents = ({
  events,
  hasEndpoint,
}: {
  events: Event[] | undefined;
  hasEndpoint: boolean;
}) => (
  <Card>
    <CardHeader
      title="Recent events"
      hint={
        hasEndpoint ? undefined : 'Verified licenses appear here once a webhook subscribes to that event.'
      }
    />
    {events?.length === 0 ? (
      <Empty icon={<Activity />} title="No events yet">
        Created licenses, payments, and webhook events show up here.
      </Empty>
    ) : (
      <ul className="divide-y divide-line border-t border-line">
        {events
          ? events.map((event) => <Row key={event.id} event={event} />)
          : Array.from({ length: 5 }, (_, row) => (
              <li key={row} className="flex h-12 items-center px-5">
                <Skeleton className="h-3.5 w-1/2" />
              </li>
            ))}
      </ul>
    )}
  </Card>
);
