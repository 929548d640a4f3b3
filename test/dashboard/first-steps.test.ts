import { expect, test, vi } from 'vitest';
import { call, type Json, ORIGIN, register } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { newReceiver } from '../support/receiver.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.parse('2027-03-10T12:00:00.000Z');

test('the first steps are ticked off by being taken, each at its hour, and never untaken', async () => {
  useFakeClock(NOON);
  const ada = await register();
  const taken: Record<string, string> = {};
  const expectSteps = async (nextStep: string) => {
    const { body: progress } = await ada.asSession('GET', '/api/developer-progress');
    const ids = progress.steps.map(({ id }: Json) => id);
    expect(ids).toEqual([
      'create_account',
      'create_api_key',
      'create_license',
      'verify_license',
      'add_webhook',
      'choose_plan',
    ]);
    for (const { id, done, done_at: doneAt, title } of progress.steps) {
      expect([id, done, doneAt]).toEqual([id, id in taken, taken[id] ?? null]);
      expect(title.length).toBeGreaterThan(5);
    }
    expect([progress.completed, progress.total]).toEqual([Object.keys(taken).length, 6]);
    expect((await ada.asSession('GET', '/api/onboarding')).body.next_step).toBe(nextStep);
  };
  const anHourLater = (step: string) => {
    vi.advanceTimersByTime(HOUR_MS);
    taken[step] = new Date(Date.now()).toISOString();
  };

  taken.create_account = new Date(NOON).toISOString();
  await expectSteps('create_api_key');
  anHourLater('create_api_key');
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {});
  await expectSteps('create_license');
  anHourLater('create_license');
  const { body: license } = await ada.asSession('POST', '/api/v1/licenses/create', {});
  await expectSteps('verify_license');

  const verify = (licenseKey: string) =>
    call('POST', '/api/v1/licenses/verify', {
      body: { license_key: licenseKey },
      headers: { 'x-api-key': key.api_key },
    });
  // A verify that finds nothing is no step.
  await verify('NOT-A-LICENSE');
  await expectSteps('verify_license');
  anHourLater('verify_license');
  expect((await verify(license.license_key)).body.valid).toBe(true);
  await expectSteps('add_webhook');
  // A webhook that was refused is none.
  await ada.asSession('POST', '/api/webhooks', { url: 'https://192.0.2.1/' });
  await expectSteps('add_webhook');
  anHourLater('add_webhook');
  const { url } = await newReceiver();
  const { body: webhook } = await ada.asSession('POST', '/api/webhooks', { url });
  await expectSteps('choose_plan');

  // Facts stay facts: later calls don't move them, and a deleted key was made all the same.
  vi.advanceTimersByTime(HOUR_MS);
  await verify(license.license_key);
  await ada.asSession('POST', '/api/v1/licenses/create', {});
  await ada.asSession('POST', '/api/create-api-key', {});
  await ada.asSession('DELETE', `/api/api-keys/${key.id}`);
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/revoke`);
  await ada.asSession('POST', '/api/webhooks', { url });
  await ada.asSession('DELETE', `/api/webhooks/${webhook.id}`);
  await expectSteps('choose_plan');
});

/** The request that a curl command makes. */
const readCurl = (command: string) => {
  const [, method = '', url = ''] = /^curl -X (\w+) (\S+) \\\n/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const [, body = ''] = /-d '([^']+)'$/.exec(command) ?? [];
  return { method, path: url.replace(ORIGIN, ''), headers: Object.fromEntries(headers), body };
};

test('the snippets run as they stand once the key is filled in', async () => {
  const ada = await register();
  const onboard = async (): Promise<Json> => (await ada.asSession('GET', '/api/onboarding')).body;
  const fresh = await onboard();
  expect(fresh).toMatchObject({ base_url: `${ORIGIN}/api/v1/`, api_key: null });
  expect(Object.keys(fresh)).toEqual([
    'base_url',
    'api_key',
    'next_step',
    'snippets',
    'license_key',
    'key_placeholder',
    'webhook_events',
  ]);
  expect(fresh.key_placeholder).toBe('YOUR_API_KEY');
  expect(fresh.snippets.curl).toContain(`{"license_key":"${fresh.license_key}"}`);
  expect(fresh.webhook_events).toEqual([
    'payment.success',
    'subscription.cancelled',
    'license.created',
    'license.verified',
  ]);

  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {});
  const run = ({ snippets }: Json) => {
    const { method, path, headers, body } = readCurl(snippets.curl.replace('YOUR_API_KEY', key.api_key));
    return call(method, path, { headers, body });
  };
  // Before there is a license, the snippet already works: it asks for one that nobody has.
  const { status, body } = await run(await onboard());
  expect([status, body.status]).toEqual([200, 'not_found']);

  const { body: license } = await ada.asSession('POST', '/api/v1/licenses/create', {});
  const ready = await onboard();
  expect(ready).toMatchObject({ api_key: key.masked_key, license_key: license.license_key });
  expect((await run(ready)).body).toMatchObject({ valid: true, status: 'active', api_usage: 2 });
  for (const snippet of Object.values<string>(ready.snippets)) {
    expect(snippet.split('YOUR_API_KEY')).toHaveLength(2);
    expect(snippet).toContain(`${ORIGIN}/api/v1/licenses/verify`);
    expect(snippet).toContain(`{"license_key":"${license.license_key}"}`);
    expect(snippet).not.toContain(key.api_key);
  }
  expect(ready.snippets.javascript).toContain('JSON.stringify({"license_key"');
  expect(ready.snippets.python).toContain('json.dumps({"license_key"');

  // The newest key is shown; a deleted one is not.
  const { body: second } = await ada.asSession('POST', '/api/create-api-key', {});
  expect((await onboard()).api_key).toBe(second.masked_key);
  await ada.asSession('DELETE', `/api/api-keys/${second.id}`);
  expect((await onboard()).api_key).toBe(key.masked_key);
  await ada.asSession('DELETE', `/api/api-keys/${key.id}`);
  expect((await onboard()).api_key).toBeNull();
});
