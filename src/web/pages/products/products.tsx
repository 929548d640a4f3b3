import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Package, Plus } from 'lucide-react';
import { type Product, productsQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { ROW_LINK, Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateProduct } from './create-product.tsx';
import { draftOf, summarize } from './terms.ts';

const route = getRouteApi('/shell/products');

const HEAD = (
  <>
    <Th>Product</Th>
    <Th>Terms</Th>
    <Th className="max-md:hidden">Updated</Th>
  </>
);

const Row = ({ product }: { product: Product }) => (
  <Tr className="relative">
    <Td className="w-2/5 max-w-0">
      <Link
        to="/products/$code"
        params={{ code: product.code }}
        className={cx('block truncate font-medium max-sm:whitespace-normal', ROW_LINK)}
      >
        {product.name ?? product.code}
      </Link>
      {product.name !== null && <code className="block truncate text-xs text-muted">{product.code}</code>}
    </Td>
    <Td>{summarize(draftOf(product)).join(' · ')}</Td>
    <Td className="max-md:hidden">
      <Time at={product.updated_at} />
    </Td>
  </Tr>
);

export const Products = () => {
  const { create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(productsQuery);
  const products = query.data?.pages.flatMap(({ data }) => data);
  const showCreate = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { create: true } : {}, replace: true, resetScroll: false });
  const createButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Create product
    </Button>
  );
  return (
    <Page
      title="Products"
      hint="What your licenses allow: how many machines, how long offline, which features."
      actions={createButton}
    >
      <Card>
        {query.isError && !products ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : products?.length === 0 ? (
          <Empty icon={<Package />} title="No products yet" action={createButton}>
            A product says once what all of its licenses allow. A license belongs to a product if its product
            field is the product’s code.
          </Empty>
        ) : (
          <>
            <Table label="Products" head={HEAD}>
              {products ? (
                products.map((product) => <Row key={product.code} product={product} />)
              ) : (
                <SkeletonRows rows={4} columns={3} />
              )}
            </Table>
            <MoreRows query={query} />
          </>
        )}
      </Card>
      <CreateProduct
        isOpen={create}
        hint="You set its other terms on the next page."
        onCreated={({ code }) => navigate({ to: '/products/$code', params: { code }, replace: true })}
        onClose={() => showCreate(false)}
      />
    </Page>
  );
};
