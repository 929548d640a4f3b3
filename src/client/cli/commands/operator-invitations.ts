import { command, given } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';
import { allPages } from '../pages.ts';

interface Invitation {
  id: string;
  email: string | null;
  created_at: string;
  expires_at: string;
}

export const invite = command({
  name: 'operator invite',
  args: ['[EMAIL]'],
  summary: 'Print a link with which one person can create an account',
  details: [
    'For a service whose REGISTRATION is invite. With EMAIL, the link is good for this address only.',
  ],
  options: { days: { value: 'DAYS', help: 'How long the link works, 7 days unless given' } },
  run: async (context, [email], { days }) => {
    if (days !== undefined && !/^\d+$/.test(days)) throw new CliError('--days takes a whole number.');
    const invitation = await (
      await openOperator(context)
    ).post<Invitation & { url: string }>('/invitations', {
      ...given({ email }),
      ...(days !== undefined && { days: Number(days) }),
    });
    const { url, id, expires_at } = invitation;
    context.out.fields(invitation, { link: url, id, 'works until': expires_at });
    return 0;
  },
});

export const invitations = command({
  name: 'operator invitations',
  args: [],
  summary: 'List the invitations that nobody has used',
  options: {},
  run: async (context) => {
    const operator = await openOperator(context);
    const pages = await allPages(context.out, Infinity, ({ limit, cursor }) => {
      const query = new URLSearchParams({ limit: String(limit), ...given({ cursor }) });
      return operator.get<{ data: Invitation[]; next_cursor: string | null }>(
        `/invitations?${query.toString()}`,
      );
    });
    context.out.table(pages, pages.data, {
      id: ({ id }) => id,
      email: ({ email }) => email,
      created: ({ created_at }) => created_at,
      'works until': ({ expires_at }) => expires_at,
    });
    return 0;
  },
});

export const uninvite = command({
  name: 'operator uninvite',
  args: ['INVITATION_ID'],
  summary: 'Take an invitation back',
  options: {},
  run: async (context, [id = '']) => {
    const deleted = await (await openOperator(context)).delete<{ id: string }>(`/invitations/${id}`);
    context.out.fields(deleted, { id: deleted.id, deleted: true });
    return 0;
  },
});
