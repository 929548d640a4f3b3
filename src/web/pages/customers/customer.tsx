import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { UserX } from 'lucide-react';
import { useState } from 'react';
import { isNobodys } from '../../../shared/rules/licenses.ts';
import { licensesQuery } from '../../data/license-list.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { purchasesQuery } from '../../data/store-queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { EraseCustomer } from '../licenses/erase-customer.tsx';
import { CUSTOMER_LICENSE_HEAD, CustomerLicenseRow } from './customer-license-row.tsx';
import { Machines } from './machines.tsx';
import { CustomerPurchases } from './purchases.tsx';

const route = getRouteApi('/shell/customers/$email');

const ABOVE = <UpLink to="/customers" name="Customers" />;

const Erase = ({ email }: { email: string }) => {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Button size="sm" variant="danger-outline" onClick={() => setOpen(true)}>
        <UserX aria-hidden />
        Erase customer
      </Button>
      <EraseCustomer
        email={email}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        lead={() => navigate({ to: '/customers' })}
      />
    </>
  );
};

const NoCustomer = ({ email }: { email: string }) => (
  <Page title="Customer not found" hint={`No license in this account belongs to ${email}.`} above={ABOVE}>
    <div>
      <ButtonLink to="/customers" variant="solid">
        See all customers
      </ButtonLink>
    </div>
  </Page>
);

/** The latest name and company that the customer's licenses have. */
const hintOf = (licenses: LicenseBody[]) =>
  [
    licenses.find(({ customer_name: name }) => name !== null)?.customer_name,
    licenses.find(({ customer_company: company }) => company !== null)?.customer_company,
  ]
    .filter(Boolean)
    .join(' · ');

export const CustomerPage = () => {
  const { email } = route.useParams();
  const query = useInfiniteQuery(licensesQuery({ customer: email }));
  const purchases = useInfiniteQuery(purchasesQuery({ q: email }));
  const licenses = query.data?.pages.flatMap(({ data }) => data);
  if (licenses?.length === 0) return <NoCustomer email={email} />;
  return (
    <Page
      title={email}
      beside={
        <span className="-mx-2">
          <CopyIcon text={email} what="email address" />
        </span>
      }
      hint={(licenses && hintOf(licenses)) || '\u00A0'}
      above={ABOVE}
      actions={
        <>
          <ButtonLink to="/licenses" search={{ customer: email }} size="sm">
            Find these licenses
          </ButtonLink>
          {!isNobodys(email) && <Erase email={email} />}
        </>
      }
    >
      <Card>
        <CardHeader title="Licenses" hint="What this customer has, newest first." />
        {query.isError && !licenses ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <>
            <Table label="Licenses" head={CUSTOMER_LICENSE_HEAD}>
              {licenses ? (
                licenses.map((license) => <CustomerLicenseRow key={license.id} license={license} />)
              ) : (
                <SkeletonRows rows={3} columns={4} />
              )}
            </Table>
            <MoreRows query={query} />
          </>
        )}
      </Card>
      {licenses && (
        <Machines licenses={licenses}>
          <CustomerPurchases email={email} query={purchases} />
        </Machines>
      )}
    </Page>
  );
};
