import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ApiError } from '../../data/error.ts';
import { type Product, productQuery } from '../../data/queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeleteProduct } from './delete-product.tsx';
import { ProductForm } from './product-form.tsx';

const route = getRouteApi('/shell/products/$code');

const ABOVE = <UpLink to="/products" name="Products" />;

const Shown = ({ product }: { product: Product }) => (
  <Page
    title={product.name ?? product.code}
    beside={
      <span className="flex items-center gap-1 text-muted">
        <code className="text-xs break-all">{product.code}</code>
        <CopyIcon text={product.code} what="code" />
      </span>
    }
    actions={
      <>
        <ButtonLink to="/licenses" search={{ q: product.code }} size="sm">
          Find its licenses
        </ButtonLink>
        <DeleteProduct product={product} />
      </>
    }
    above={ABOVE}
  >
    <ProductForm product={product} />
  </Page>
);

const Loading = () => (
  <Page
    title="Product"
    heading={
      <>
        <span className="sr-only">Product</span>
        <Skeleton className="h-7 w-52" />
      </>
    }
    actions={<Skeleton className="h-8 w-44" />}
    above={ABOVE}
  >
    <Skeleton className="h-[40rem] rounded-xl" />
  </Page>
);

const NoProduct = () => (
  <Page title="Product not found" hint="No product in this account has this code." above={ABOVE}>
    <div>
      <ButtonLink to="/products" variant="solid">
        See all products
      </ButtonLink>
    </div>
  </Page>
);

export const ProductPage = () => {
  const { code } = route.useParams();
  const { data, error, refetch } = useQuery(productQuery(code));
  if (error instanceof ApiError && error.code === 'product_not_found') return <NoProduct />;
  if (data) return <Shown key={code} product={data} />;
  return error ? (
    <Page title="Product" above={ABOVE}>
      <Card>
        <LoadError error={error} onRetry={() => void refetch()} />
      </Card>
    </Page>
  ) : (
    <Loading />
  );
};
