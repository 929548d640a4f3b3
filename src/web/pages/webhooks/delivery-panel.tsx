import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { RETENTION_DAYS } from '../../../shared/rules/webhooks.ts';
import type { Webhook } from '../../data/webhook-queries.ts';
import { IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import { type useDeliveries, useOpenDelivery } from './use-deliveries.ts';
import { useIsWide } from './use-wide.ts';

interface FrameProps {
  id: string;
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Moves the focus to the element when it mounts. */
const useFocus = <T extends HTMLElement>() => {
  const ref = useRef<T>(null);
  useEffect(() => ref.current?.focus({ preventScroll: true }), []);
  return ref;
};

const Heading = ({ children }: { children: string }) => (
  <h2
    ref={useFocus<HTMLHeadingElement>()}
    tabIndex={-1}
    className="min-w-0 truncate text-base font-semibold outline-none"
  >
    {children}
  </h2>
);

const DialogBody = ({ children }: { children: ReactNode }) => (
  <div ref={useFocus<HTMLDivElement>()} tabIndex={-1} className="-mx-5 -mt-1 -mb-5 outline-none">
    {children}
  </div>
);

/** A panel next to the list, at most as tall as the window. */
const SidePanel = ({ id, title, onClose, children }: FrameProps) => (
  <Card
    aria-label="Delivery"
    className="sticky top-5 flex max-h-[calc(100dvh-2.5rem)] flex-col overflow-hidden"
    onKeyDown={({ key }) => key === 'Escape' && onClose()}
  >
    <div className="flex items-center justify-between gap-4 pt-3 pr-3 pb-2 pl-5">
      <Heading key={id}>{title}</Heading>
      <IconButton label="Close" onClick={onClose}>
        <X aria-hidden />
      </IconButton>
    </div>
    <div key={id} className="min-h-0 overflow-y-auto">
      {children}
    </div>
  </Card>
);

const Loading = () => (
  <div aria-busy className="grid gap-3 px-5 pb-5">
    <Skeleton className="h-8 w-28" />
    <Skeleton className="h-24" />
    <Skeleton className="h-40" />
  </div>
);

interface DeliveryPanelProps {
  webhook: Webhook;
  id: string;
  list: ReturnType<typeof useDeliveries>;
  onClose: () => void;
}

export const DeliveryPanel = ({ webhook, id, list, onClose }: DeliveryPanelProps) => {
  const isWide = useIsWide();
  const { delivery, error, retry } = useOpenDelivery(webhook.id, id, list);
  const content = delivery ? (
    <DeliveryDetails webhook={webhook} delivery={delivery} />
  ) : error ? (
    <LoadError error={error} onRetry={retry} />
  ) : delivery === null ? (
    <p className="px-5 pb-5 text-muted">
      This delivery was deleted or never existed. Deliveries are kept for up to {RETENTION_DAYS} days, or less
      on busy webhooks.
    </p>
  ) : (
    <Loading />
  );
  const title = delivery?.event ?? (delivery === null ? 'Delivery not found' : 'Delivery');
  if (isWide) {
    return (
      <SidePanel id={id} title={title} onClose={onClose}>
        {content}
      </SidePanel>
    );
  }
  return (
    <Dialog isOpen onClose={onClose} title={title} width="max-w-2xl">
      <DialogBody key={id}>{content}</DialogBody>
    </Dialog>
  );
};
