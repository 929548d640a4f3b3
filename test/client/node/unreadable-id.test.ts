import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { createService, LICENSE_KEY, pinnedKeys, type Request } from '../support/fake-service.ts';
import { createTime } from '../support/fake-time.ts';

// A machine has an id, which its programs can't read at times.

const system = vi.hoisted(() => {
  const state = {
    /** How often the id can't be read from now on. */
    failures: 0,
    timeouts: [] as (number | undefined)[],
    readFingerprint: (_: string, timeoutMs?: number) => {
      state.timeouts.push(timeoutMs);
      state.failures -= 1;
      if (state.failures >= 0) throw new TypeError('No id.', { cause: new Error('ETIMEDOUT') });
      return 'machine-of-the-system';
    },
  };
  return state;
});
vi.mock('../../../src/client/node/fingerprint.ts', () => system);

const setUp = async () => {
  const dir = mkdtempSync(join(tmpdir(), 'latchkey-'));
  const service = createService(createTime(Date.now()));
  const onlyOne = (request: Request) => {
    const isKnown = request.input['fingerprint'] === 'machine-of-the-system';
    service.terms.statement = isKnown ? {} : { valid: false, code: 'not_activated' };
    return service.answer(request);
  };
  service.always = onlyOne;
  const keys = await pinnedKeys();
  const create = (failures: number) => {
    system.failures = failures;
    const { fetch } = service;
    return createLicense({
      baseUrl: 'https://latchkey.test',
      apiKey: 'lk',
      product: 'orrery',
      keys,
      dir,
      fetch,
    });
  };
  const activate = async () => {
    const license = create(0);
    expect(await license.activate(LICENSE_KEY)).toMatchObject({ valid: true });
    await license.stop();
    service.requests.length = 0;
  };
  const stored = () => readFileSync(join(dir, 'license.json'), 'utf8');
  const hasId = () => existsSync(join(dir, 'machine-id'));
  return { dir, service, create, activate, stored, hasId };
};

test('a machine whose id can’t be read for a moment is still the same, with more time to read it', async () => {
  const { create, activate, hasId } = await setUp();
  await activate();
  system.timeouts.length = 0;
  const license = create(1);
  expect(await license.start()).toMatchObject({ valid: true, source: 'stored', machine: 'system' });
  await license.stop();
  expect(system.timeouts).toEqual([undefined, 30_000]);
  expect(hasId()).toBe(false);
});

test('a machine whose id can’t be read at all asks nothing as another one, keeps its record, and says why', async () => {
  const { dir, service, create, activate, stored, hasId } = await setUp();
  await activate();
  const before = stored();
  const license = create(2);
  const path = join(dir, 'license.json');
  const problem = { kind: 'store', message: `The store fails: get MACHINE_ID_UNREADABLE ${path}` };
  expect(await license.start()).toMatchObject({ valid: false, machine: 'system', problem });
  expect(await license.activate(LICENSE_KEY)).toMatchObject({ code: 'inconclusive', problem });
  await license.forget();
  await license.stop();
  expect([service.requests, stored(), hasId()]).toEqual([[], before, false]);
  const next = create(0);
  expect(await next.start()).toMatchObject({ valid: true, source: 'stored' });
  await next.stop();
});

test('a machine that has stored nothing yet, or has an id of its own in the directory, goes on with that one', async () => {
  const { dir, service, create, hasId } = await setUp();
  const first = create(2);
  expect(await first.start()).toMatchObject({ code: 'key_missing', machine: 'stored', problem: null });
  expect(hasId()).toBe(true);
  writeFileSync(join(dir, 'license.json'), JSON.stringify({ licenseKey: LICENSE_KEY }));
  const second = create(2);
  expect(await second.start()).toMatchObject({ code: 'not_activated', machine: 'stored' });
  const id = readFileSync(join(dir, 'machine-id'), 'utf8');
  expect(service.requests.map(({ input }) => input['fingerprint'])).toEqual([id]);
  await Promise.all([first.stop(), second.stop()]);
});
