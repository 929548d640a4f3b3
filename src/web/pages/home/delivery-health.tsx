import { Link } from '@tanstack/react-router';
import type { Dashboard } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';

const LINK = 'text-sm font-medium underline decoration-line-strong underline-offset-4 hover:decoration-ink';

const Health = ({ webhooks }: { webhooks: Dashboard['webhooks'] }) => {
  if (webhooks.endpoints === 0) return null;
  const { delivered_24h: delivered, failed_24h: failed } = webhooks;
  if (failed === 0) return <StateBadge tone="good">{delivered === 0 ? 'Idle' : 'Healthy'}</StateBadge>;
  return (
    <StateBadge tone={failed > delivered ? 'bad' : 'warn'}>
      {failed > delivered ? 'Failing' : 'Some fail'}
    </StateBadge>
  );
};

export const DeliveryHealth = ({ webhooks }: { webhooks: Dashboard['webhooks'] | undefined }) => (
  <Card className="p-5">
    <h2 className="flex h-6 items-center justify-between text-sm font-medium">
      Webhooks, last 24 hours
      {webhooks && <Health webhooks={webhooks} />}
    </h2>
    <dl className="mt-2 grid grid-cols-2 gap-4">
      <Figure name="Delivered" value={webhooks?.delivered_24h} />
      <Figure name="Failed attempts" value={webhooks?.failed_24h} isBad={(webhooks?.failed_24h ?? 0) > 0} />
    </dl>
    <p className="mt-3 h-5">
      {webhooks &&
        (webhooks.endpoints === 0 ? (
          <Link to="/webhooks" search={{ create: true }} className={LINK}>
            Add a webhook
          </Link>
        ) : (
          <Link to="/webhooks" className={LINK}>
            {plural(webhooks.endpoints, 'endpoint')}
          </Link>
        ))}
    </p>
  </Card>
);
