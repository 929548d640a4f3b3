import { useQuery } from '@tanstack/react-query';
import { dashboardQuery } from '../../data/queries.ts';
import { Figure } from '../../ui/figure.tsx';

/** What all endpoints together were sent in 24 hours. */
export const LastDay = () => {
  const { data, isError } = useQuery(dashboardQuery);
  const { delivered_24h: delivered, failed_24h: failed = 0 } = data?.webhooks ?? {};
  // The list says for itself what is wrong.
  if (isError && !data) return null;
  return (
    <dl className="flex flex-wrap gap-x-6 sm:gap-x-8 gap-y-2 border-b border-line px-5 py-3">
      <Figure name="Delivered, 24 hours" value={delivered} />
      <Figure name="Failed attempts, 24 hours" value={data && failed} isBad={failed > 0} />
    </dl>
  );
};
