import { useMutation } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { resendDelivery } from '../../data/mutations.ts';
import type { DeliveryBody, Webhook } from '../../data/webhook-queries.ts';
import { formatExact } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Fact, Facts } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { showToast, showError } from '../../ui/toast.tsx';
import { Attempts } from './attempts.tsx';
import { DeliveryBadge } from './delivery-row.tsx';
import { NextAttempt } from './next-attempt.tsx';

const formatPayload = (payload: string): string => {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
};

const Resend = ({ webhook, delivery }: { webhook: Webhook; delivery: DeliveryBody }) => {
  const resend = useMutation({
    ...resendDelivery(webhook.id, delivery.id),
    onSuccess: () => showToast('Delivery queued'),
    onError: showError,
  });
  return (
    <Button
      size="sm"
      isBusy={resend.isPending}
      disabled={webhook.status === 'disabled'}
      onClick={() => resend.mutate()}
    >
      <RotateCw aria-hidden />
      Resend
    </Button>
  );
};

export const DeliveryDetails = ({ webhook, delivery }: { webhook: Webhook; delivery: DeliveryBody }) => (
  <>
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 pb-3">
      <span className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <DeliveryBadge {...delivery} />
        {delivery.status === 'pending' && (
          <span>
            {delivery.next_attempt_at !== null && 'Next '}
            <NextAttempt at={delivery.next_attempt_at} />
          </span>
        )}
      </span>
      <Resend webhook={webhook} delivery={delivery} />
    </div>
    {delivery.error !== null && (
      <p className="px-5 pb-3 text-sm text-bad">This delivery failed because {delivery.error}.</p>
    )}
    {webhook.status === 'disabled' && (
      <p className="px-5 pb-3 text-sm text-muted">Enable the webhook to resend this delivery.</p>
    )}
    <div className="border-t border-line">
      <Facts>
        <Fact name="Time">
          <time dateTime={delivery.created_at} className="nums">
            {formatExact(delivery.created_at)}
          </time>
        </Fact>
        <Fact name="Event ID">
          <span className="-my-1.5 flex items-center gap-1">
            <code className="min-w-0 text-xs break-all">{delivery.event_id}</code>
            <CopyIcon text={delivery.event_id} what="event ID" />
          </span>
          <span className="text-xs text-muted">Sent in the webhook-id header of every attempt</span>
        </Fact>
      </Facts>
    </div>
    <div className="border-t border-line">
      <Attempts attempts={delivery.attempts} />
    </div>
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-5 pt-4 pb-5">
      <h3 className="text-sm font-medium">Payload</h3>
      <Code text={formatPayload(delivery.payload)} what="payload" copyText={delivery.payload} />
      <p className="text-xs text-muted">Copies the exact payload that was sent.</p>
    </div>
  </>
);
