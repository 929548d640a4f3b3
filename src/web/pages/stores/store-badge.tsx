import type { Store } from '../../data/store-queries.ts';
import { StateBadge } from '../../ui/badge.tsx';

export const StoreBadge = ({ store }: { store: Store }) => {
  if (!store.has_secret) return <StateBadge tone="warn">Secret missing</StateBadge>;
  if (store.check_problem !== null) return <StateBadge tone="warn">Check failed</StateBadge>;
  return store.last_event_at === null ? (
    <StateBadge tone="brass">Waiting for the first event</StateBadge>
  ) : (
    <StateBadge tone="good">Connected</StateBadge>
  );
};
