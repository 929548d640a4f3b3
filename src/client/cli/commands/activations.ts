import { command } from '../command.ts';
import { answer } from '../connection.ts';
import { findLicenseId } from '../find-license.ts';
import { allPages } from '../pages.ts';

const list = command({
  name: 'activations list',
  args: ['LICENSE'],
  summary: 'List the machines that hold a license’s seats',
  options: {},
  run: async ({ out, api }, [license = '']) => {
    const client = await api();
    const path = { id: await findLicenseId(client, license) };
    const pages = await allPages(out, Infinity, (query) =>
      answer(client.GET('/api/v1/licenses/{id}/activations', { params: { path, query } })),
    );
    out.table(pages, pages.data, {
      id: ({ id }) => id,
      name: ({ name }) => name,
      platform: ({ platform }) => platform,
      'app version': ({ app_version }) => app_version,
      fingerprint: ({ fingerprint }) => fingerprint,
      'last seen': ({ last_seen_at }) => last_seen_at,
      'lease until': ({ lease_until }) => lease_until,
    });
    if (pages.seats) out.note(`${pages.seats.used} of ${pages.seats.limit} seats are taken.`);
    return 0;
  },
});

const remove = command({
  name: 'activations remove',
  args: ['LICENSE', 'ACTIVATION_ID'],
  summary: 'Release a machine’s seat',
  options: { force: { help: 'Also release a seat that an offline file holds' } },
  run: async ({ out, api }, [license = '', activation_id = ''], { force }) => {
    const client = await api();
    const path = { id: await findLicenseId(client, license), activation_id };
    const params = { path, ...(force && { query: { force: 'true' as const } }) };
    const removed = await answer(
      client.DELETE('/api/v1/licenses/{id}/activations/{activation_id}', { params }),
    );
    out.fields(removed, { released: activation_id });
    return 0;
  },
});

export const activationCommands = [list, remove];
