import { Webhook } from 'standardwebhooks';
import { beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Customer, type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { addEndpoint, readOutbox, tamperOutbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

let ada: Customer;
let receiver: Awaited<ReturnType<typeof newReceiver>>;
let path: string;
let firstSecret: string;
let sent = 0;

beforeEach(async () => {
  useFakeClock(NOON);
  ada = await signUp();
  receiver = await newReceiver();
  ({ path, secret: firstSecret } = await addEndpoint(ada, receiver.url));
  sent = 0;
});

const tryToRotate = () => ada.asKey('POST', `${path}/rotate-secret`);

const rotate = async (): Promise<Json> => (await tryToRotate()).body;

/** Sends a test event and returns for each secret whether it verifies the request. */
const verifiesWith = async (...secrets: string[]) => {
  await ada.asKey('POST', `${path}/test`);
  sent += 1;
  const posted = (await receiver.receives(sent)).at(-1)!;
  return secrets.map((secret) => {
    try {
      return Boolean(new Webhook(secret).verify(posted.body, posted.headers));
    } catch {
      return false;
    }
  });
};

const isoAt = (ms: number) => new Date(ms).toISOString();

test('each earlier secret signs for 24 hours from the rotation that replaced it', async () => {
  const second = await rotate();
  vi.setSystemTime(NOON + HOUR_MS);
  const third = await rotate();
  expect(third.old_secret_expires_at).toBe(isoAt(NOON + HOUR_MS + DAY_MS));
  const secrets = [firstSecret, second.secret, third.secret];
  expect(await verifiesWith(...secrets)).toEqual([true, true, true]);
  vi.setSystemTime(NOON + DAY_MS);
  expect(await verifiesWith(...secrets)).toEqual([false, true, true]);
  vi.setSystemTime(NOON + DAY_MS + HOUR_MS);
  expect(await verifiesWith(...secrets)).toEqual([false, false, true]);
  expect((await ada.asKey('GET', path)).body.old_secret_expires_at).toBeNull();
});

test('every secret that parallel rotations returned signs', async () => {
  const rotated = await Promise.all([rotate(), rotate(), rotate(), rotate()]);
  const secrets = [firstSecret, ...rotated.map(({ secret }) => secret)];
  expect(await verifiesWith(...secrets)).toEqual(secrets.map(() => true));
});

test('at most five secrets sign, also after parallel rotations, and the refusal says when the next may come', async () => {
  const second = await rotate();
  vi.setSystemTime(NOON + HOUR_MS);
  const answers = await Promise.all(Array.from({ length: 10 }, tryToRotate));
  expect(tallyOf(answers)).toEqual({ '200 ok': 3, '403 limit_reached': 7 });
  const details = [
    {
      path: 'secrets',
      message: expect.stringContaining(`The next rotation is possible from ${isoAt(NOON + DAY_MS)}`),
    },
  ];
  expect((await tryToRotate()).body.error).toMatchObject({ code: 'limit_reached', details });
  const { data } = (await ada.asSession('GET', '/api/audit-log?action=webhook.rotate_secret')).body;
  expect(data).toHaveLength(4);
  const rotated = answers.flatMap(({ body }) => body.secret ?? []);
  const secrets = [firstSecret, second.secret, ...rotated];
  expect(await verifiesWith(...secrets)).toEqual(secrets.map(() => true));
  vi.setSystemTime(NOON + DAY_MS - 1);
  expect(outcomeOf(await tryToRotate())).toBe('403 limit_reached');
  vi.setSystemTime(NOON + DAY_MS);
  expect(outcomeOf(await tryToRotate())).toBe('200 ok');
});

test('a secret that an earlier release rotated out signs for its 24 hours, also if more than five do', async () => {
  for (let i = 0; i < 4; i++) await rotate();
  const readSecrets = () =>
    readOutbox<{ secrets: string }>(
      ada.accountId,
      `SELECT value ->> '$.earlierSecrets' AS secrets FROM endpoints`,
    );
  const earlier = JSON.parse((await readSecrets())[0]!.secrets) as Json[];
  const others = Array.from({ length: 8 }, () => earlier[3]);
  await tamperOutbox(
    ada.accountId,
    `UPDATE endpoints SET value = json_set(value, '$.earlierSecrets', json(?))`,
    JSON.stringify([...earlier, ...others]),
  );
  expect(await verifiesWith(firstSecret)).toEqual([true]);
  expect(outcomeOf(await tryToRotate())).toBe('403 limit_reached');
});

test('an endpoint that an earlier release rotated hundreds of times sends a header that receivers accept', async () => {
  const rotated = await rotate();
  const [earlier] = await readOutbox<{ value: string }>(
    ada.accountId,
    `SELECT value ->> '$.earlierSecrets[0]' AS value FROM endpoints`,
  );
  await tamperOutbox(
    ada.accountId,
    `UPDATE endpoints SET value = json_set(value, '$.earlierSecrets', json(?))`,
    `[${Array.from({ length: 400 }, () => earlier!.value).join(',')}]`,
  );
  expect(await verifiesWith(rotated.secret)).toEqual([true]);
  const { headers } = (await receiver.received()).at(-1)!;
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(100);
  expect(outcomeOf(await tryToRotate())).toBe('403 limit_reached');
});
