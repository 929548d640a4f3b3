import { command, given } from '../command.ts';
import { answer, notLatchkey } from '../connection.ts';

export const verify = command({
  name: 'verify',
  args: ['LICENSE_KEY'],
  summary: 'Verify a license key',
  details: [
    'Exits with 0 if the license is valid, 1 if it is not, and 2 if there was no verdict.',
    'The call counts as usage, as an application’s verify does.',
  ],
  options: {
    fingerprint: { value: 'TEXT', help: 'The machine’s fingerprint' },
    product: { value: 'CODE', help: 'The product that the license must be for' },
    'release-date': { value: 'DATE', help: 'The release date of the application’s version' },
  },
  run: async ({ out, api }, [license_key = ''], { fingerprint, product, 'release-date': release_date }) => {
    const client = await api();
    const body = { license_key, ...given({ fingerprint, product, release_date }) };
    const verdict = await answer(client.POST('/api/v1/licenses/verify', { body }));
    if (typeof verdict.valid !== 'boolean') throw notLatchkey();
    const { valid, status, expires_at, api_usage, api_limit } = verdict;
    const isFull = 'code' in verdict;
    out.fields(verdict, {
      valid: valid ? 'yes' : 'no',
      ...(isFull && { code: verdict.code }),
      status,
      expires: expires_at ?? (status === 'not_found' ? null : 'never'),
      ...(isFull && {
        product: verdict.product,
        entitlements: JSON.stringify(verdict.entitlements),
        updates_until: verdict.updates_until ?? 'forever',
        seats: verdict.seats && `${verdict.seats.used} of ${verdict.seats.limit}`,
        machine: verdict.activation && (verdict.activation.name ?? verdict.activation.id),
      }),
      usage: `${api_usage} of ${api_limit}`,
    });
    return valid ? 0 : 1;
  },
});
