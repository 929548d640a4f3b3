import { command, given } from '../command.ts';
import type { Context } from '../context.ts';
import { openOperator } from '../operator.ts';
import { allPages } from '../pages.ts';
import type { Cell } from '../table.ts';

export interface ListedAccount {
  id: string;
  email: string;
  name: string | null;
  plan: string;
  granted_plan: string | null;
  granted_until: string | null;
  suspended_at: string | null;
  licenses: number;
  storage: { used: number; limit: number };
  created_at: string;
}

export const fieldsOf = (account: ListedAccount): Record<string, Cell> => ({
  id: account.id,
  email: account.email,
  plan: account.plan,
  'granted plan': account.granted_plan,
  'granted until': account.granted_until,
  suspended: account.suspended_at,
});

type LargeAccount = ListedAccount & { usage: { api_usage: number; api_limit: number } | null };

const listLargest = async (
  { out }: Context,
  operator: Awaited<ReturnType<typeof openOperator>>,
  q: string,
) => {
  const query = new URLSearchParams({ q, limit: '20', sort: '-storage', usage: 'true' });
  const page = await operator.get<{ data: LargeAccount[] }>(`/accounts?${query.toString()}`);
  out.table(page, page.data, {
    id: ({ id }) => id,
    email: ({ email }) => email,
    plan: ({ plan }) => plan,
    'stored bytes': ({ storage }) => storage.used,
    calls: ({ usage }) => usage?.api_usage ?? null,
    licenses: ({ licenses }) => licenses,
    suspended: ({ suspended_at }) => suspended_at,
  });
  return 0;
};

export const accounts = command({
  name: 'operator accounts',
  args: ['[QUERY]'],
  summary: 'Find accounts by id, or by a part of the email address or name',
  options: { largest: { help: 'The twenty that store the most, with their calls in this period' } },
  run: async (context, [q = ''], { largest }) => {
    const operator = await openOperator(context);
    if (largest) return listLargest(context, operator, q);
    const pages = await allPages(context.out, Infinity, ({ limit, cursor }) => {
      const query = new URLSearchParams({ q, limit: String(limit), ...given({ cursor }) });
      return operator.get<{ data: ListedAccount[]; next_cursor: string | null }>(
        `/accounts?${query.toString()}`,
      );
    });
    context.out.table(pages, pages.data, {
      id: ({ id }) => id,
      email: ({ email }) => email,
      name: ({ name }) => name,
      plan: ({ plan }) => plan,
      licenses: ({ licenses }) => licenses,
      suspended: ({ suspended_at }) => suspended_at,
      created: ({ created_at }) => created_at,
    });
    return 0;
  },
});
