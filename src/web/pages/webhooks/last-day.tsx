import { useQuery } from '@tanstack/react-query';
import { dashboardQuery } from '../../data/queries.ts';
import { Figure } from '../../ui/figure.tsx';

/** The deliveries of all webhooks in the last 24 hours. */
export const LastDay = () => {
  const { data, isError } = useQuery(dashboardQuery);
  const { delivered_24h: delivered, failed_24h: failed = 0 } = data?.webhooks ?? {};
  // The list shows its own error.
  if (isError && !data) return null;
  return (
    <dl className="flex flex-wrap gap-x-6 sm:gap-x-8 gap-y-2 border-b border-line px-5 py-3">
      <Figure name="Delivered (24h)" value={delivered} />
      <Figure name="Failed attempts (24h)" value={data && failed} isBad={failed > 0} />
    </dl>
  );
};
