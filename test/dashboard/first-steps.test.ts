import { beforeAll, describe, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { call, type Json, ORIGIN, register } from '../support/client.ts';
import { ALL_EVENTS } from '../support/events.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { newReceiver } from '../support/receiver.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');

test('each onboarding step records when it was first completed and stays completed', async () => {
  useFakeClock(NOON);
  const ada = await register();
  const completedAt: Record<string, string> = {};
  const expectSteps = async (nextStep: string) => {
    const { body: progress } = await ada.asSession('GET', '/api/developer-progress');
    const ids = progress.steps.map(({ id }: Json) => id);
    expect(ids).toEqual([
      'create_account',
      'create_product',
      'create_api_key',
      'create_license',
      'verify_license',
      'add_webhook',
      'choose_plan',
    ]);
    for (const { id, done, done_at: doneAt, title } of progress.steps) {
      expect([id, done, doneAt]).toEqual([id, id in completedAt, completedAt[id] ?? null]);
      expect(title.length).toBeGreaterThan(5);
    }
    expect([progress.completed, progress.total]).toEqual([Object.keys(completedAt).length, 7]);
    expect((await ada.asSession('GET', '/api/onboarding')).body.next_step).toBe(nextStep);
  };
  /** Advances the clock, so that each step has its own time. */
  const startStep = (step: string) => {
    vi.advanceTimersByTime(HOUR_MS);
    completedAt[step] = new Date(Date.now()).toISOString();
  };

  completedAt.create_account = new Date(NOON).toISOString();
  await expectSteps('create_product');
  startStep('create_product');
  await ada.asSession('PUT', '/api/v1/products/orrery', { name: 'Orrery' });
  await expectSteps('create_api_key');
  startStep('create_api_key');
  await ada.prove();
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', {});
  await expectSteps('create_license');
  startStep('create_license');
  const { body: license } = await ada.asSession('POST', '/api/v1/licenses/create', {});
  await expectSteps('verify_license');

  const verify = (licenseKey: string) =>
    call('POST', '/api/v1/licenses/verify', {
      body: { license_key: licenseKey },
      headers: { 'x-api-key': key.api_key },
    });
  // Verifying an unknown license does not complete the step.
  await verify('NOT-A-LICENSE');
  await expectSteps('verify_license');
  startStep('verify_license');
  expect((await verify(license.license_key)).body.valid).toBe(true);
  await expectSteps('add_webhook');
  // A rejected webhook does not complete the step.
  await ada.prove();
  await ada.asSession('POST', '/api/webhooks', { url: 'https://192.0.2.1/' });
  await expectSteps('add_webhook');
  startStep('add_webhook');
  await ada.prove();
  const { url } = await newReceiver();
  const { body: webhook } = await ada.asSession('POST', '/api/webhooks', { url });
  await expectSteps('choose_plan');

  // Later calls change neither the steps nor their times, not even deleting the API key.
  vi.advanceTimersByTime(HOUR_MS);
  await verify(license.license_key);
  await ada.asSession('POST', '/api/v1/licenses/create', {});
  await ada.prove();
  await ada.asSession('POST', '/api/create-api-key', {});
  await ada.asSession('DELETE', `/api/api-keys/${key.id}`);
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/revoke`);
  await ada.asSession('POST', '/api/webhooks', { url });
  await ada.asSession('DELETE', `/api/webhooks/${webhook.id}`);
  await expectSteps('choose_plan');
});

/** Reads the request from a curl command. */
const readCurl = (command: string) => {
  const [, method = '', url = ''] = /^curl -X (\w+) (\S+) \\\n/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const [, body = ''] = /-d '([^']+)'$/.exec(command) ?? [];
  return { method, path: url.replace(ORIGIN, ''), headers: Object.fromEntries(headers), body };
};

const registerForOnboarding = async () => {
  const { asSession } = await register();
  return {
    asSession,
    onboarding: async (): Promise<Json> => (await asSession('GET', '/api/onboarding')).body,
    createKey: async (): Promise<Json> => (await asSession('POST', '/api/create-api-key', {})).body,
  };
};

describe('onboarding', () => {
  test('of a new account shows the base URL and the webhook events, but no API key', async () => {
    const { onboarding } = await registerForOnboarding();
    const fresh = await onboarding();
    expect(fresh).toMatchObject({ base_url: `${ORIGIN}/api/v1/`, api_key: null });
    expect(Object.keys(fresh)).toEqual([
      'base_url',
      'api_key',
      'next_step',
      'snippets',
      'license_key',
      'license_id',
      'key_placeholder',
      'webhook_events',
    ]);
    expect(fresh.key_placeholder).toBe('YOUR_API_KEY');
    expect(fresh.snippets.curl).toContain(`{"license_key":"${fresh.license_key}",`);
    expect(fresh.license_id).toBeNull();
    expect(fresh.webhook_events).toEqual(ALL_EVENTS);
  });

  test('shows the newest API key, masked, that was not deleted', async () => {
    const { asSession, onboarding, createKey } = await registerForOnboarding();
    const first = await createKey();
    expect((await onboarding()).api_key).toBe(first.masked_key);
    const second = await createKey();
    expect((await onboarding()).api_key).toBe(second.masked_key);
    await asSession('DELETE', `/api/api-keys/${second.id}`);
    expect((await onboarding()).api_key).toBe(first.masked_key);
    await asSession('DELETE', `/api/api-keys/${first.id}`);
    expect((await onboarding()).api_key).toBeNull();
  });

  test('has a curl snippet that works with the API key filled in, with and without a sample license', async () => {
    const { asSession, onboarding, createKey } = await registerForOnboarding();
    const key = await createKey();
    const run = ({ snippets }: Json) => {
      const { method, path, headers, body } = readCurl(snippets.curl.replace('YOUR_API_KEY', key.api_key));
      return call(method, path, { headers, body });
    };
    const { status, body } = await run(await onboarding());
    expect([status, body.status]).toEqual([200, 'not_found']);
    await asSession('PUT', '/api/v1/products/seats', { terms: { max_activations: 1 } });
    const { body: license } = await asSession('POST', '/api/v1/licenses/create', {
      product: 'seats',
      metadata: { sample: true },
    });
    const ready = await onboarding();
    expect([ready.license_key, ready.license_id]).toEqual([license.license_key, license.id]);
    expect((await run(ready)).body).toMatchObject({
      valid: true,
      status: 'active',
      api_usage: 1,
      activation: { name: 'My first machine' },
      seats: { used: 1, limit: 1 },
    });
    const { body: progress } = await asSession('GET', '/api/developer-progress');
    expect(progress.steps.find(({ id }: Json) => id === 'verify_license').done).toBe(true);
  });

  test('never has the license key of a customer', async () => {
    const { asSession, onboarding } = await registerForOnboarding();
    const { license_key: example } = await onboarding();
    const others = [
      { customer_email: 'grace@example.com' },
      { customer_email: 'grace@example.com', metadata: { sample: true } },
      {},
      { metadata: { sample: 'of silk' } },
    ];
    for (const fields of others) await asSession('POST', '/api/v1/licenses/create', fields);
    expect(await onboarding()).toMatchObject({ license_key: example, license_id: null });
  });

  describe('snippets', () => {
    let key: Json;
    let license: Json;
    let snippets: Json;
    beforeAll(async () => {
      const { asSession, onboarding, createKey } = await registerForOnboarding();
      key = await createKey();
      const sample = { metadata: { sample: true } };
      license = (await asSession('POST', '/api/v1/licenses/create', sample)).body;
      ({ snippets } = await onboarding());
    });

    test('exist for curl, JavaScript and Python', () => {
      expect(Object.keys(snippets)).toEqual(['curl', 'javascript', 'python']);
      expect(snippets.javascript).toContain('JSON.stringify({"license_key"');
      expect(snippets.python).toContain('json.dumps({"license_key"');
    });

    test.for(['curl', 'javascript', 'python'])(
      'activate a machine with the sample license and a placeholder for the API key in %s',
      (language) => {
        const snippet: string = snippets[language];
        expect(snippet.split('YOUR_API_KEY')).toHaveLength(2);
        expect(snippet).toContain(`${ORIGIN}/api/v1/licenses/activate`);
        expect(snippet).toContain(`{"license_key":"${license.license_key}","fingerprint":"`);
        expect(snippet).not.toContain(key.api_key);
      },
    );
  });
});
