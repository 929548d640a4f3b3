import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Package, ScrollText, Webhook as WebhookIcon } from 'lucide-react';
import { SEARCHED_FIELDS } from '../../../shared/rules/license-fields.ts';
import { matchesSearch, readSearch } from '../../../shared/rules/search-text.ts';
import { licensePage } from '../../data/license-list.ts';
import { type LicenseBody, productsQuery } from '../../data/queries.ts';
import { webhooksQuery } from '../../data/webhook-queries.ts';
import { Badge, LicenseBadge } from '../../ui/badge.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import type { Group, Item } from './ranking.ts';

const MIN_LENGTH = 2;
const MAX_RESULTS = 6;
const PAUSE_MS = 150;

const isMatch = (text: string, ...fields: (string | null)[]) => matchesSearch(fields, readSearch(text));

/** A license that an earlier search has found, perhaps by its metadata. */
const stillMatches = (text: string) => (license: LicenseBody) =>
  isMatch(
    text,
    ...SEARCHED_FIELDS.map((field) => license[field]),
    ...Object.values(license.metadata).map(String),
  );

interface SearchResults {
  groups: Group[];
  isSearching: boolean;
  hasFailed: boolean;
}

/** Searches the account's products, webhooks and licenses, also by a machine if no license has the text. */
export const useSearchResults = (typed: string): SearchResults => {
  const navigate = useNavigate();
  const text = typed.trim();
  const settled = useSettled(text, PAUSE_MS);
  const isEnabled = text.length >= MIN_LENGTH;
  const licenses = useQuery({
    queryKey: ['licenses', 'palette', settled],
    queryFn: async ({ signal }) => {
      const limit = String(MAX_RESULTS);
      const { data } = await licensePage({ q: settled, limit }, signal);
      if (data.length > 0) return { data, machine: null };
      return { data: (await licensePage({ machine: settled, limit }, signal)).data, machine: settled };
    },
    enabled: settled.length >= MIN_LENGTH,
    placeholderData: keepPreviousData,
  });
  const webhooks = useQuery({ ...webhooksQuery, enabled: isEnabled });
  const products = useInfiniteQuery({ ...productsQuery, enabled: isEnabled });
  if (!isEnabled) return { groups: [], isSearching: false, hasFailed: false };

  const licenseItem = ({ id, license_key, customer_name, customer_email, status }: LicenseBody): Item => ({
    id,
    name: license_key,
    icon: <ScrollText aria-hidden />,
    label: (
      <span className="grid min-w-0 sm:flex sm:items-baseline sm:gap-2.5">
        <code className="truncate text-xs sm:shrink-0">{license_key}</code>
        <span className="truncate text-sm text-muted">{customer_name ?? customer_email}</span>
      </span>
    ),
    aside: <LicenseBadge status={status} />,
    opensPage: true,
    run: () => void navigate({ to: '/licenses/$id', params: { id } }),
  });
  const productItems = (products.data?.pages ?? [])
    .flatMap(({ data }) => data)
    .filter(({ code, name }) => isMatch(text, code, name))
    .slice(0, MAX_RESULTS)
    .map(({ code, name }) => ({
      id: `product-${code}`,
      name: name ?? code,
      icon: <Package aria-hidden />,
      aside: name !== null && <code className="text-xs">{code}</code>,
      opensPage: true,
      run: () => void navigate({ to: '/products/$code', params: { code } }),
    }));
  const webhookItems = (webhooks.data?.data ?? [])
    .filter(({ url, description }) => isMatch(text, url, description))
    .slice(0, MAX_RESULTS)
    .map(({ id, url, status }) => ({
      id,
      name: url,
      icon: <WebhookIcon aria-hidden />,
      aside: status === 'disabled' && <Badge>disabled</Badge>,
      opensPage: true,
      run: () => void navigate({ to: '/webhooks/$id', params: { id } }),
    }));
  // While the next search runs, show the previous results that still match.
  const { data = [], machine = null } = licenses.data ?? {};
  const licenseItems = data
    .filter(machine === null ? stillMatches(text) : () => machine === text)
    .map(licenseItem);
  const isDone = settled === text && !licenses.isFetching;
  return {
    groups: [
      { name: 'Products', items: productItems },
      { name: 'Webhooks', items: webhookItems },
      { name: machine === null ? 'Licenses' : 'Licenses with this machine', items: licenseItems },
    ].filter(({ items }) => items.length > 0),
    isSearching: !isDone || webhooks.isLoading || products.isLoading,
    hasFailed: isDone && licenses.isError,
  };
};
