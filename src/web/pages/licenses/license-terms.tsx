import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { type LicenseBody, type Product, productQuery, productsQuery } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EditTerms } from './edit-terms.tsx';
import { type Source, TERM_NAMES, type Term, sourceOf, termText, termsOf } from './terms-text.ts';

/**
 * Finds the product whose code a license names; null if there is none. Most products are in the first page of the list,
 * so that a license whose product field is no code doesn't cause a failed request.
 */
const useProduct = (code: string | null) => {
  const list = useInfiniteQuery(productsQuery);
  const listed = list.data?.pages.flatMap(({ data }) => data).find((product) => product.code === code);
  const isElsewhere = code !== null && listed === undefined && list.hasNextPage;
  const one = useQuery({ ...productQuery(code ?? ''), enabled: isElsewhere });
  const query = isElsewhere ? one : list;
  const isMissing = query.error instanceof ApiError && query.error.status === 404;
  return {
    product: listed ?? (isElsewhere ? (one.data ?? null) : null),
    isLoading: code !== null && query.isPending,
    failed: code !== null && query.isLoadingError && !isMissing ? query : null,
  };
};

const SOURCES: Record<Source, string | null> = {
  license: 'This license',
  product: 'Product',
  default: null,
};

const SourceBadge = ({ source }: { source: Source }) =>
  SOURCES[source] && <Badge tone={source === 'license' ? 'brass' : 'plain'}>{SOURCES[source]}</Badge>;

const Row = ({ name, source, text }: { name: string; source: Source; text: string }) => (
  <Fact name={name}>
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <span className="min-w-0 wrap-anywhere">{text}</span>
      <SourceBadge source={source} />
    </span>
  </Fact>
);

const entitlementsOf = (license: LicenseBody, product: Product | null) => {
  const own = license.terms.entitlements ?? {};
  const removed = Object.keys(own).filter((name) => own[name] === null);
  return [
    ...Object.entries(termsOf(license, product).entitlements).map(([name, value]) => ({
      name,
      text: `${value}`,
      source: name in own ? ('license' as const) : ('product' as const),
    })),
    ...removed.map((name) => ({ name, text: 'Removed', source: 'license' as const })),
  ];
};

const Entitlements = ({ license, product }: { license: LicenseBody; product: Product | null }) => {
  const entitlements = entitlementsOf(license, product);
  return (
    <Fact name="Entitlements">
      {entitlements.length === 0 && <span className="text-muted">None</span>}
      <ul className="grid gap-1">
        {entitlements.map(({ name, text, source }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-2.5">
            <code className="min-w-0 text-xs wrap-anywhere">
              {name}: {text}
            </code>
            <SourceBadge source={source} />
          </li>
        ))}
      </ul>
    </Fact>
  );
};

const Origin = ({ license, product }: { license: LicenseBody; product: Product | null }) => {
  if (product) {
    return (
      <>
        Inherited from{' '}
        <Link to="/products/$code" params={{ code: product.code }} className="underline hover:text-ink">
          {product.name ?? product.code}
        </Link>
        , except for the license’s own terms.
      </>
    );
  }
  return license.product === null
    ? 'This license has no product to inherit terms from.'
    : `No product has the code “${license.product}”, so this license inherits no terms.`;
};

const Terms = ({ license, product }: { license: LicenseBody; product: Product | null }) => {
  const terms = termsOf(license, product);
  return (
    <div className="border-t border-line pb-1">
      <Facts>
        {(Object.keys(TERM_NAMES) as Term[]).map((term) => (
          <Row
            key={term}
            name={TERM_NAMES[term]}
            source={sourceOf(term, license, product)}
            text={termText(term, terms)}
          />
        ))}
        <Fact name="Updates until">
          {license.updates_until === null ? (
            <span className="text-muted">All versions</span>
          ) : (
            <time dateTime={license.updates_until}>{formatDate(license.updates_until)}</time>
          )}
        </Fact>
        <Entitlements license={license} product={product} />
      </Facts>
    </div>
  );
};

/** The terms that apply to the license, and where each comes from. */
export const LicenseTerms = ({ license }: { license: LicenseBody }) => {
  const { product, isLoading, failed } = useProduct(license.product);
  const [isEditing, setEditing] = useState(false);
  return (
    <Card aria-label="Terms">
      <CardHeader
        title="Terms"
        hint={
          isLoading ? (
            <Skeleton className="my-0.5 h-4 w-60" />
          ) : (
            !failed && <Origin license={license} product={product} />
          )
        }
        actions={
          <Button size="sm" disabled={isLoading || failed !== null} onClick={() => setEditing(true)}>
            Edit terms
          </Button>
        }
      />
      {failed ? (
        <LoadError error={failed.error} onRetry={() => void failed.refetch()} />
      ) : isLoading ? (
        <div className="px-5 pb-5">
          <Skeleton className="h-80" />
        </div>
      ) : (
        <Terms license={license} product={product} />
      )}
      <EditTerms license={license} product={product} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Card>
  );
};
