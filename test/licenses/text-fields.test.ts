import { beforeEach, describe, expect, test } from 'vitest';
import {
  LICENSE_FIELDS,
  PERSONAL_FIELDS,
  SEARCHED_FIELDS,
  TEXT_FIELDS,
} from '../../src/shared/rules/license-fields.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { CSV, exportAll, importAs, ofType, toLines } from '../transfer/transfer.ts';

// Every text field of a license does the same everywhere.

describe.for(TEXT_FIELDS)('%s', (field) => {
  let ada: Customer;
  let license: Json;
  const longest = 'x'.repeat(LICENSE_FIELDS[field].maxLength);

  const find = async (q: string) =>
    (await ada.asSession('GET', `/api/v1/licenses?q=${q}`)).body.data.map(({ id }: Json) => id);
  const patch = (value: unknown) =>
    ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { [field]: value });
  const changes = async () =>
    (await ada.asSession('GET', `/api/v1/licenses/${license.id}/history`)).body.data.flatMap(
      (entry: Json) => entry.changes,
    );

  beforeEach(async () => {
    ada = await signUp();
    license = await ada.createLicense({ license_key: 'ORRERY-1', [field]: ' Marble ' });
  });

  test('is kept, changed, and cleared, as the history tells', async () => {
    expect(license).toMatchObject({ [field]: 'Marble' });
    expect((await patch('Granite')).body).toMatchObject({ [field]: 'Granite' });
    expect((await patch(null)).body).toMatchObject({ [field]: null });
    expect((await patch('Quartz')).body).toMatchObject({ [field]: 'Quartz' });
    expect(await changes()).toEqual([
      { field, from: null, to: 'Quartz' },
      { field, from: 'Granite', to: null },
      { field, from: 'Marble', to: 'Granite' },
    ]);
  });

  test('has a limited length, and isn’t blank', async () => {
    expect((await ada.createLicense({ [field]: longest }))[field]).toBe(longest);
    for (const invalid of [`${longest}x`, ' ', 7]) {
      const { status, body } = await patch(invalid);
      expect([status, body.error.details[0].path]).toEqual([400, field]);
    }
  });

  test.runIf(SEARCHED_FIELDS.some((name) => name === field))('is searched', async () => {
    await patch('Sandstone');
    expect(await find('sandst')).toEqual([license.id]);
    await patch('Limestone');
    expect([await find('sandst'), await find('limest'), await find('li')]).toEqual([
      [],
      [license.id],
      [license.id],
    ]);
  });

  test('is exported and imported', async () => {
    await patch('Basalt');
    const [line] = ofType(await exportAll(ada), 'license').filter(({ id }) => id === license.id);
    expect(line).toMatchObject({ [field]: 'Basalt' });
    const bob = await signUp();
    const imported = async () => (await bob.asSession('GET', '/api/v1/licenses')).body.data;
    const results = async (body: string, headers?: Record<string, string>) =>
      (await importAs(bob, body, '?on_conflict=update', headers)).answers.map(({ result }) => result);
    expect(await results(toLines([line]))).toEqual(['created']);
    expect(await imported()).toMatchObject([{ [field]: 'Basalt' }]);
    expect(await results(toLines([line]))).toEqual(['unchanged']);
    expect(await results(`license_key,${field}\nORRERY-1,Slate\n`, CSV)).toEqual(['updated']);
    expect(await imported()).toMatchObject([{ [field]: 'Slate' }]);
  });

  test.runIf(PERSONAL_FIELDS.some((name) => name === field))('is erased with its customer', async () => {
    await patch('Onyx');
    await patch('Opal');
    await ada.asSession('POST', '/api/erase-customer', { customer_email: license.customer_email });
    expect((await ada.asSession('GET', `/api/v1/licenses/${license.id}`)).body).toMatchObject({
      [field]: null,
    });
    expect(await changes()).toEqual([]);
  });
});
