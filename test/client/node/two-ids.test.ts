import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLicense } from '../../../src/client/node.ts';
import { createService, LICENSE_KEY, pinnedKeys, type Request } from '../support/fake-service.ts';
import { createTime } from '../support/fake-time.ts';

// A machine may have several ids: the system's, which can't be read at times and differs by product, and one that is kept in
// the directory.

const SYSTEM = 'machine-of-the-system-orrery';
const KEPT = 'A'.repeat(22);

const system = vi.hoisted(() => {
  const state = {
    /** Whether the system's id can be read, can't be read at the moment, or isn't there. */
    id: 'read' as 'read' | 'busy' | 'none',
    readFingerprint: (product: string) => {
      if (state.id === 'read') return `machine-of-the-system-${product}`;
      const cause = state.id === 'busy' ? new Error('ETIMEDOUT') : undefined;
      throw new TypeError('No id.', { cause });
    },
  };
  return state;
});
vi.mock('../../../src/client/node/fingerprint.ts', () => system);

/** A license with one seat, which the first machine that activates has. */
const setUp = async () => {
  const dir = mkdtempSync(join(tmpdir(), 'latchkey-'));
  const service = createService(createTime(Date.now()));
  const license = { seat: '', hasExpired: false };
  service.always = (request: Request) => {
    const { fingerprint = '' } = request.input;
    if (request.path === 'activate') license.seat ||= fingerprint;
    const code = request.path === 'activate' ? 'no_seat' : 'not_activated';
    const isOther = fingerprint !== license.seat;
    if (license.hasExpired) service.terms.statement = { valid: false, code: 'expired' };
    else service.terms.statement = isOther ? { valid: false, code } : {};
    return service.answer(request);
  };
  const keys = await pinnedKeys();
  const options = { baseUrl: 'https://latchkey.test', apiKey: 'lk', keys, dir };
  const create = (id: typeof system.id, build: { product?: string }) => {
    system.id = id;
    return createLicense({ ...options, ...build, fetch: service.fetch });
  };
  type License = ReturnType<typeof create>;
  const run = async (
    id: typeof system.id,
    use = (started: License) => started.start(),
    build: { product?: string } = { product: 'orrery' },
  ) => {
    const started = create(id, build);
    const { valid, code, machine, problem } = await use(started);
    await started.stop();
    return { valid, code, machine, problem };
  };
  const activate = (started: License) => started.activate(LICENSE_KEY);
  const keepId = () => writeFileSync(join(dir, 'machine-id'), KEPT);
  const stored = () => readFileSync(join(dir, 'license.json'), 'utf8');
  return { dir, service, license, run, activate, keepId, stored };
};

test('a machine that was activated by the id in its directory goes on with it once the system’s can be read', async () => {
  const { run, activate, service } = await setUp();
  expect(await run('busy', activate)).toMatchObject({ valid: true, machine: 'stored' });
  for (const id of ['read', 'busy', 'none', 'read'] as const)
    expect(await run(id)).toMatchObject({ valid: true, machine: 'stored' });
  expect(await run('read', activate)).toMatchObject({ valid: true, machine: 'stored' });
  expect(new Set(service.requests.map(({ input }) => input['fingerprint'])).size).toBe(1);
});

test('that holds after the license has expired and was renewed, and for a key that is typed again', async () => {
  const { run, activate, license } = await setUp();
  await run('none', activate);
  license.hasExpired = true;
  const expired = await run('none', (started) => started.refresh());
  expect(expired).toMatchObject({ valid: false, code: 'expired' });
  license.hasExpired = false;
  expect(await run('read')).toMatchObject({ valid: true, machine: 'stored' });
  await run('read', (started) => started.forget());
  expect(await run('read', activate)).toMatchObject({ valid: true, machine: 'stored' });
});

test.each(['busy', 'none'] as const)(
  'a license of the system’s id outlasts a start at which that is %s, with another id in the directory',
  async (id) => {
    const { run, activate, keepId, stored, license } = await setUp();
    keepId();
    expect(await run('read', activate)).toMatchObject({ valid: true, machine: 'system' });
    const before = stored();
    expect(await run(id)).toMatchObject({
      valid: false,
      code: id === 'busy' ? 'key_missing' : 'not_activated',
    });
    expect([stored(), license.seat]).toEqual([before, SYSTEM]);
    expect(await run('read')).toMatchObject({ valid: true, machine: 'system' });
  },
);

test('a machine whose id is gone for good activates by another one, and keeps that', async () => {
  const { run, activate, dir, license } = await setUp();
  await run('read', activate);
  expect(await run('none')).toMatchObject({ code: 'not_activated', machine: 'stored' });
  expect(await run('none', activate)).toMatchObject({ code: 'no_seat' });
  license.seat = '';
  expect(await run('none', activate)).toMatchObject({ valid: true, machine: 'stored' });
  expect(existsSync(join(dir, 'machine-id'))).toBe(true);
  for (const id of ['none', 'read'] as const)
    expect(await run(id)).toMatchObject({ valid: true, machine: 'stored' });
});

test('a machine that has forgotten its license, or given back its seat, says so at the next start', async () => {
  const { run, activate, keepId, license } = await setUp();
  await run('read', activate);
  keepId();
  license.seat = KEPT;
  await run('none', activate);
  expect(await run('none', (started) => started.deactivate())).toMatchObject({ code: 'deactivated' });
  expect(await run('none')).toMatchObject({ code: 'deactivated', machine: 'stored' });
  await run('none', (started) => started.forget());
  expect(await run('none')).toMatchObject({ code: 'key_missing', machine: 'stored' });
});

test('a build that names its product keeps the seat that an earlier build without one has taken', async () => {
  const { run, activate, license } = await setUp();
  expect(await run('read', activate, {})).toMatchObject({ valid: true, machine: 'system' });
  const { seat } = license;
  for (const use of [undefined, activate])
    expect(await run('read', use)).toMatchObject({ valid: true, machine: 'system' });
  expect(license.seat).toBe(seat);
});
