import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/api/client.ts';
import { findLicenseId } from '../../../src/client/cli/find-license.ts';

/** A service with licenses of these keys, newest first, that gives them in pages of at most 100, and the queries it got. */
const openService = (keys: string[]) => {
  const queries: string[] = [];
  const respond = async ({ url }: Request) => {
    const { searchParams } = new URL(url);
    queries.push(searchParams.toString());
    const start = Number(searchParams.get('cursor') ?? 0);
    const end = start + Number(searchParams.get('limit') ?? 50);
    const data = keys.slice(start, end).map((key) => ({ id: `lic_of_${key}`, license_key: key }));
    return Response.json({ data, next_cursor: end < keys.length ? String(end) : null });
  };
  return {
    queries,
    api: createClient({ baseUrl: 'https://latchkey.test', apiKey: 'lk_test', fetch: respond }),
  };
};

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `ORRERY-${count - index}`);

test('a license is found by a key that is the beginning of many other keys', async () => {
  const { api, queries } = openService(numbered(500));
  expect(await findLicenseId(api, 'ORRERY-1')).toBe('lic_of_ORRERY-1');
  expect(queries).toHaveLength(5);
  expect(queries.slice(0, 2)).toEqual(['q=ORRERY-1&limit=100', 'q=ORRERY-1&limit=100&cursor=100']);
});

test('a license is looked for only until its key is found', async () => {
  const { api, queries } = openService(numbered(500));
  expect(await findLicenseId(api, 'ORRERY-350')).toBe('lic_of_ORRERY-350');
  expect(queries).toHaveLength(2);
});

test('a key that no license has is looked for on every page', async () => {
  const { api, queries } = openService(numbered(201));
  await expect(findLicenseId(api, 'ORRERY')).rejects.toMatchObject({ code: 'license_not_found' });
  expect(queries).toHaveLength(3);
});

test('a generated key is found in another spelling, unless another license has the very key', async () => {
  const generated = '7K3QD-9WZXA-M2RTB-H5NVE-40GPW';
  const typed = generated.toLowerCase();
  expect(await findLicenseId(openService([generated]).api, typed)).toBe(`lic_of_${generated}`);
  const { api } = openService([generated, ...numbered(100), typed]);
  expect(await findLicenseId(api, typed)).toBe(`lic_of_${typed}`);
});
