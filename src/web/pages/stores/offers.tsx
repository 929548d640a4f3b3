import { useInfiniteQuery } from '@tanstack/react-query';
import { Pencil, Plus, Tag, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { deleteOffer, type Offer, offersQuery, type Store } from '../../data/store-queries.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditOffer } from './edit-offer.tsx';
import { grantText, refundText } from './offer-text.ts';

const MIDDLE = 'max-md:hidden';

const HEAD = (
  <>
    <Th>Store’s ID</Th>
    <Th>Product</Th>
    <Th className={MIDDLE}>Buyer gets</Th>
    <Th className={MIDDLE}>Refund</Th>
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  </>
);

const Row = ({ storeId, offer, onEdit }: { storeId: string; offer: Offer; onEdit: () => void }) => {
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Tr>
      <Td className="w-1/3 max-w-0 truncate">
        <code className="text-xs">{offer.ref}</code>
      </Td>
      <Td className="max-w-0 truncate font-medium md:w-1/4">{offer.product}</Td>
      <Td className={MIDDLE}>{grantText(offer)}</Td>
      <Td className={MIDDLE}>{refundText(offer.on_refund)}</Td>
      <Td className="text-right whitespace-nowrap">
        <IconButton label={`Edit offer ${offer.ref}`} onClick={onEdit}>
          <Pencil aria-hidden />
        </IconButton>
        <IconButton label={`Delete offer ${offer.ref}`} onClick={() => setDeleting(true)}>
          <Trash2 aria-hidden />
        </IconButton>
        <Confirm
          isOpen={isDeleting}
          onClose={() => setDeleting(false)}
          title="Delete this offer?"
          action="Delete offer"
          isDangerous
          write={deleteOffer(storeId, offer.ref)}
          onDone={() => showToast('Offer deleted')}
        >
          <p>
            New purchases of <span className="break-all text-ink">{offer.ref}</span> wait without a license
            until there is an offer again. Licenses created by it stay.
          </p>
        </Confirm>
      </Td>
    </Tr>
  );
};

/** What the prices, variants, and products of a store mean here. */
export const Offers = ({ store }: { store: Store }) => {
  const query = useInfiniteQuery(offersQuery(store.id));
  const [edited, setEdited] = useState<Offer | 'new' | null>(null);
  const offers = query.data?.pages.flatMap(({ data }) => data);
  const addButton = (
    <Button size="sm" onClick={() => setEdited('new')}>
      <Plus aria-hidden />
      Add offer
    </Button>
  );
  return (
    <Card>
      <CardHeader
        title="Offers"
        hint="Which product the buyer of a price, variant, or product of the store gets."
        actions={addButton}
      />
      {query.isError && !offers ? (
        <LoadError error={query.error} onRetry={() => void query.refetch()} />
      ) : offers?.length === 0 ? (
        <Empty icon={<Tag />} title="No offers yet">
          Until there is an offer for it, a purchase waits without a license. It gets its license as soon as
          you save an offer.
        </Empty>
      ) : (
        <>
          <Table label="Offers" head={HEAD}>
            {offers ? (
              offers.map((offer) => (
                <Row key={offer.ref} storeId={store.id} offer={offer} onEdit={() => setEdited(offer)} />
              ))
            ) : (
              <SkeletonRows rows={3} columns={5} />
            )}
          </Table>
          <MoreRows query={query} />
        </>
      )}
      <EditOffer store={store} edited={edited} onClose={() => setEdited(null)} />
    </Card>
  );
};
