import { expect, test, vi } from 'vitest';
import { signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

const keysOf = async (customer: Awaited<ReturnType<typeof signUp>>) =>
  (await customer.asSession('GET', '/api/api-keys')).body.data;

test('with an Idempotency-Key a repeated call returns the API key that the first one created', async () => {
  const ada = await signUp();
  const before = (await keysOf(ada)).length;
  const create = () =>
    ada.asSession('POST', '/api/create-api-key', { name: 'CI' }, { 'idempotency-key': 'ci' });
  const answers = await Promise.all([create(), create(), create()]);
  answers.push(await create());
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
  expect((await keysOf(ada)).length).toBe(before + 1);

  const { id } = answers[0]?.body ?? {};
  const rotate = () =>
    ada.asSession(
      'POST',
      `/api/api-keys/${id}/rotate`,
      { overlap_hours: 0 },
      { 'idempotency-key': 'rotate' },
    );
  // The second call finds that the old key has ended, and still answers with the new one.
  const rotated = [await rotate(), await rotate()];
  expect(rotated.map(({ status }) => status)).toEqual([201, 201]);
  expect(rotated[1]?.body).toEqual(rotated[0]?.body);
  expect(await ada.asSession('DELETE', `/api/api-keys/${rotated[0]?.body.id}`)).toMatchObject({
    status: 200,
  });
  expect((await rotate()).body.error.code).toBe('idempotency_conflict');
});

test('a repeated create returns its API key also after the key has expired', async () => {
  useFakeClock('2027-03-10T12:00:00.000Z');
  const ada = await signUp();
  const create = () =>
    ada.asSession(
      'POST',
      '/api/create-api-key',
      { scope: 'verify', expires_at: '2027-03-10T13:00:00Z' },
      { 'idempotency-key': 'one-hour' },
    );
  const first = await create();
  vi.setSystemTime('2027-03-10T13:00:00.000Z');
  const { status, body } = await create();
  expect([status, body]).toEqual([201, first.body]);
});
