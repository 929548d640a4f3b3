import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ScrollText, Webhook as WebhookIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api, call } from '../../data/client.ts';
import { type License, webhooksQuery } from '../../data/queries.ts';
import { Badge, LicenseBadge } from '../../ui/badge.tsx';
import type { Group, Item } from './item.ts';

const MIN_LENGTH = 2;
const MAX_FOUND = 6;
const PAUSE_MS = 150;

/** What was typed, once the typing pauses. */
const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
};

const fits = (text: string, ...fields: (string | null)[]) =>
  fields.some((field) => field?.toLowerCase().includes(text.toLowerCase()));

const isFor = (text: string) => (license: License) =>
  fits(text, license.license_key, license.customer_email, license.customer_name, license.product);

export interface Found {
  groups: Group[];
  isSearching: boolean;
  hasFailed: boolean;
}

/** The account's own things that have in them what was typed. */
export const useFound = (typed: string): Found => {
  const navigate = useNavigate();
  const text = typed.trim();
  const settled = useSettled(text);
  const isAsked = text.length >= MIN_LENGTH;
  const licenses = useQuery({
    queryKey: ['licenses', 'palette', settled],
    queryFn: async ({ signal }) => {
      const query = { q: settled, limit: String(MAX_FOUND) };
      return (await call(api.v1.licenses.$get({ query }, { init: { signal } }))).data;
    },
    enabled: settled.length >= MIN_LENGTH,
    placeholderData: keepPreviousData,
  });
  const webhooks = useQuery({ ...webhooksQuery, enabled: isAsked });
  if (!isAsked) return { groups: [], isSearching: false, hasFailed: false };

  const licenseItem = ({ id, license_key, customer_name, customer_email, status }: License): Item => ({
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
    leads: true,
    run: () => void navigate({ to: '/licenses/$id', params: { id } }),
  });
  const webhookItems = (webhooks.data?.data ?? [])
    .filter(({ url, description }) => fits(text, url, description))
    .slice(0, MAX_FOUND)
    .map(({ id, url, status }) => ({
      id,
      name: url,
      icon: <WebhookIcon aria-hidden />,
      aside: status === 'disabled' && <Badge>disabled</Badge>,
      leads: true,
      run: () => void navigate({ to: '/webhooks/$id', params: { id } }),
    }));
  // Until the new answer is here, what still fits of the last one.
  const licenseItems = (licenses.data ?? []).filter(isFor(text)).map(licenseItem);
  const isAnswered = settled === text && !licenses.isFetching;
  return {
    groups: [
      { name: 'Webhooks', items: webhookItems },
      { name: 'Licenses', items: licenseItems },
    ].filter(({ items }) => items.length > 0),
    isSearching: !isAnswered || webhooks.isLoading,
    hasFailed: isAnswered && licenses.isError,
  };
};
