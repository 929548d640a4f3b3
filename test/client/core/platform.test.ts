import { afterEach, expect, test, vi } from 'vitest';
import { hang, LICENSE_KEY, status } from '../support/fake-service.ts';
import { turns } from '../support/fake-time.ts';
import { setUp } from '../support/setup.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('where Ed25519 is missing, no seat is taken and nothing is paid for', async () => {
  const { time, service, create, activate } = await setUp();
  await activate();
  const importKey = crypto.subtle.importKey.bind(crypto.subtle) as (
    ...input: unknown[]
  ) => Promise<CryptoKey>;
  vi.spyOn(crypto.subtle, 'importKey').mockImplementation(async (...input: unknown[]) => {
    if (input[2] === 'Ed25519') throw new DOMException('Unrecognized name.', 'NotSupportedError');
    return importKey(...input);
  });
  const license = create();
  const problem = { kind: 'crypto', message: 'Ed25519 is missing here, or the keys are broken.' };
  expect(await time.drive(license.start())).toMatchObject({ code: 'inconclusive', problem });
  expect(await time.drive(license.activate('OTHER-LICENSE'))).toMatchObject({
    code: 'inconclusive',
    problem,
  });
  expect(service.requests).toEqual([]);
  expect(await time.drive(license.deactivate())).toMatchObject({ code: 'deactivated' });
  await license.stop();
});

test('needs nothing that Node.js 20.0 lacks to end a call', async () => {
  vi.spyOn(AbortSignal, 'any').mockImplementation(() => {
    throw new TypeError('AbortSignal.any is not a function');
  });
  const { time, service, create } = await setUp();
  const license = create();
  await license.start();
  service.handlers.push(status(503), hang(time));
  expect(await time.drive(license.activate(LICENSE_KEY))).toMatchObject({ valid: true });
  expect(service.paths()).toEqual(['activate', 'activate', 'activate']);
  service.handlers.push(hang(time));
  const refreshed = license.refresh();
  await turns();
  const { signal } = service.requests.at(-1) ?? {};
  expect(signal?.aborted).toBe(false);
  await time.drive(license.stop());
  expect(signal?.aborted).toBe(true);
  await refreshed;
});

test('activate() asks for the lease that it was told', async () => {
  const { time, service, create } = await setUp();
  const license = create();
  await time.drive(license.activate(LICENSE_KEY, { leaseSeconds: 604_800 }));
  expect(service.requests[0]?.input).toMatchObject({ lease_seconds: 604_800 });
  for (const leaseSeconds of [59, 60.5, Number.NaN, '3600'])
    await expect(license.activate(LICENSE_KEY, { leaseSeconds: leaseSeconds as number })).rejects.toThrow(
      /leaseSeconds must be/,
    );
  await license.stop();
});
