import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Mail, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { ApiError, errorMessage } from '../../data/error.ts';
import {
  type PurchaseDetails,
  purchaseQuery,
  resendPurchaseMail,
  retryPurchase,
  storeQuery,
} from '../../data/store-queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Badge, LicenseBadge, StateBadge, type Tone } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ROW_LINK, Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { AssignProduct } from './assign-product.tsx';
import { PurchaseFacts } from './facts.tsx';
import { PurchaseBadge } from './purchase-badge.tsx';
import { mailText, reasonText } from './reasons.ts';

const route = getRouteApi('/shell/purchases/$id');

const ABOVE = <UpLink to="/purchases" name="Purchases" />;

const Licenses = ({ licenses }: Pick<PurchaseDetails, 'licenses'>) => (
  <Card>
    <CardHeader title="Licenses" hint="What this purchase created." />
    {licenses.length === 0 ? (
      <p className="px-5 pb-5 text-sm text-muted">None yet.</p>
    ) : (
      <Table
        label="Licenses"
        head={
          <>
            <Th>License</Th>
            <Th>Status</Th>
            <Th className="max-md:hidden">Product</Th>
            <Th className="max-md:hidden">Last day</Th>
          </>
        }
      >
        {licenses.map((license) => (
          <Tr key={license.id} className="relative">
            <Td className="w-1/2 max-w-0">
              <Link
                to="/licenses/$id"
                params={{ id: license.id }}
                className={cx('block truncate font-mono text-xs', ROW_LINK)}
              >
                {license.license_key}
              </Link>
            </Td>
            <Td>
              <LicenseBadge status={license.status} />
            </Td>
            <Td className="max-md:hidden">{license.product}</Td>
            <Td className="max-md:hidden">
              {license.expires_at === null ? 'Never expires' : formatDate(license.expires_at)}
            </Td>
          </Tr>
        ))}
      </Table>
    )}
  </Card>
);

type MailStatus = PurchaseDetails['mails'][number]['status'];

const MAIL_TONES: Record<MailStatus, Tone> = {
  sent: 'good',
  due: 'brass',
  waiting: 'warn',
  not_sent: 'plain',
};
const MAIL_NAMES: Record<MailStatus, string> = {
  sent: 'Sent',
  due: 'Due',
  waiting: 'Waiting',
  not_sent: 'Not sent',
};

const Mails = ({ purchase }: { purchase: PurchaseDetails }) => {
  const resend = useMutation({
    ...resendPurchaseMail(purchase.id),
    onSuccess: () => showToast('Email queued'),
    onError: showError,
  });
  return (
    <Card>
      <CardHeader
        title="Emails to the buyer"
        hint="With the key, and how to activate it."
        actions={
          purchase.licenses.length > 0 && (
            <Button size="sm" isBusy={resend.isPending} onClick={() => resend.mutate()}>
              <Mail aria-hidden />
              Send again
            </Button>
          )
        }
      />
      {purchase.mails.length === 0 ? (
        <p className="px-5 pb-5 text-sm text-muted">None.</p>
      ) : (
        <ul className="divide-y divide-line border-t border-line text-sm">
          {purchase.mails.map((mail, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- Emails have no id, and are only appended.
            <li key={index} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-2.5">
              <StateBadge tone={MAIL_TONES[mail.status]}>{MAIL_NAMES[mail.status]}</StateBadge>
              <span className="min-w-0 flex-1 text-muted">{mailText(mail)}</span>
              {mail.sent_at !== null && <Time at={mail.sent_at} />}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};

const StoreName = ({ id }: { id: string }) => {
  const { data: store, error } = useQuery(storeQuery(id));
  if (store)
    return (
      <Link
        to="/stores/$id"
        params={{ id }}
        className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
      >
        {store.name}
      </Link>
    );
  if (error === null) return <Skeleton className="h-4 w-40" />;
  return error instanceof ApiError && error.status === 404 ? 'Deleted' : errorMessage(error);
};

const About = ({ purchase }: { purchase: PurchaseDetails }) => (
  <Card>
    <Facts>
      <Fact name="Customer">
        {purchase.customer_email === null ? (
          'The store hasn’t sent the address yet'
        ) : (
          <Copyable text={purchase.customer_email} what="email address">
            <Link
              to="/customers/$email"
              params={{ email: purchase.customer_email }}
              className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
            >
              {purchase.customer_email}
            </Link>
          </Copyable>
        )}
      </Fact>
      {purchase.customer_name !== null && <Fact name="Name">{purchase.customer_name}</Fact>}
      <Fact name="Order">
        {purchase.order === null ? (
          'None'
        ) : (
          <Copyable text={purchase.order} what="order number">
            {purchase.order}
          </Copyable>
        )}
      </Fact>
      <Fact name="Store">
        <StoreName id={purchase.store_id} />
      </Fact>
      {purchase.reason !== null && <Fact name="Why">{reasonText(purchase.reason)}</Fact>}
    </Facts>
  </Card>
);

export const PurchasePage = () => {
  const { id } = route.useParams();
  const query = useQuery(purchaseQuery(id));
  const [isAssigning, setAssigning] = useState(false);
  const retry = useMutation({
    ...retryPurchase(id),
    onSuccess: () => showToast('Purchase retried'),
    onError: showError,
  });
  const purchase = query.data;
  if (!purchase)
    return (
      <Page
        title={
          query.error instanceof ApiError && query.error.status === 404 ? 'Purchase not found' : 'Purchase'
        }
        above={ABOVE}
      >
        {query.isError ? (
          <Card>
            <LoadError error={query.error} onRetry={() => void query.refetch()} />
          </Card>
        ) : (
          <Skeleton className="h-60" />
        )}
      </Page>
    );
  const isOpen = purchase.reason !== null && purchase.reason !== 'not_paid';
  return (
    <Page
      title={purchase.order ?? 'Purchase'}
      beside={
        <span className="flex gap-1">
          <PurchaseBadge status={purchase.status} />
          {purchase.test && <Badge>Test</Badge>}
        </span>
      }
      above={ABOVE}
      actions={
        <>
          {purchase.status === 'unmapped' && (
            <Button size="sm" variant="solid" onClick={() => setAssigning(true)}>
              Choose product
            </Button>
          )}
          {purchase.status === 'unmapped' && (
            <ButtonLink to="/stores/$id" params={{ id: purchase.store_id }} size="sm">
              Add offer
            </ButtonLink>
          )}
          {isOpen && (
            <Button size="sm" isBusy={retry.isPending} onClick={() => retry.mutate()}>
              <RotateCw aria-hidden />
              Try again
            </Button>
          )}
        </>
      }
    >
      <About purchase={purchase} />
      <Licenses licenses={purchase.licenses} />
      <Mails purchase={purchase} />
      <PurchaseFacts facts={purchase.facts} />
      <AssignProduct purchaseId={id} isOpen={isAssigning} onClose={() => setAssigning(false)} />
    </Page>
  );
};
