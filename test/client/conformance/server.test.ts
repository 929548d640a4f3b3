import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PinnedKeys } from '../../../src/client/core/types.ts';
import type { Sequence } from '../../conformance/sequences/words.ts';
import type { World } from '../../conformance/world.ts';
import { readSequences } from './files.ts';
import { type Double, type Report, runSequence } from './run-sequence.ts';
import { watchCrypto } from '../support/work.ts';
import type { VirtualTime } from './virtual-time.ts';

// The double of the service as a client in another language uses it: another process, commands, and requests.

let child: ChildProcess;
let url = '';

beforeAll(async () => {
  watchCrypto();
  const script = join(import.meta.dirname, '../../conformance/server.ts');
  child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!child.stdout) throw new Error('The server has no output.');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
});
afterAll(() => child.kill());

const command = async (body: object): Promise<object> => {
  const response = await fetch(`${url}/control`, { method: 'POST', body: JSON.stringify(body) });
  const answer = (await response.json()) as object;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
};
const control = async () => (await fetch(`${url}/control`)).json() as Promise<Report & { keys: PinnedKeys }>;

const openDouble = async (time: VirtualTime, world: World): Promise<Double> => {
  await command({ world });
  const setClock = () => command({ now: new Date(time.nowMs()).toISOString() });
  return {
    deliver: async (request) => {
      await setClock();
      const { method, headers } = request;
      const body = method === 'POST' ? await request.text() : null;
      const target = url + new URL(request.url).pathname;
      return fetch(target, { method, headers, body, redirect: 'manual' }).catch(() => 'cut' as const);
    },
    apply: async (event) => {
      await setClock();
      return command(event);
    },
    report: async () => {
      await setClock();
      return control();
    },
    keys: (await control()).keys,
  };
};

/** A client with a virtual clock can't tell that an answer is on its way. */
const isPrompt = ({ steps }: Sequence) =>
  steps.every(({ event }) => !('network' in event) || !['hangs', 'slow'].includes(event.network));

test.for(['leases.json', 'seller.json'])('the server plays sequences/%s', async (name) => {
  const file = readSequences(name);
  const sequences = file.sequences.filter(isPrompt);
  expect(sequences.length).toBeGreaterThan(5);
  for (const sequence of sequences) {
    const steps = await runSequence(file, sequence, openDouble, () => 0.5);
    const expected = steps.map(({ expect }) => expect);
    expect([sequence.name, steps.map(({ seen }) => seen)]).toEqual([sequence.name, expected]);
  }
});

test('a command that the server doesn’t know is refused', async () => {
  await expect(command({ seller: 'suspend', license_key: 'unknown' })).rejects.toThrow('There is no license');
  const unknown = [{}, { network: 'slowly' }, { seller: 'refund' }, { now: 'tomorrow' }];
  for (const sent of [...unknown, { world: { products: [{ code: 'orrery' }] } }])
    await expect(command(sent), JSON.stringify(sent)).rejects.toThrow('TypeError');
});

test('the seller does what it does to the first license of the world, whatever its key', async () => {
  await command({ world: { licenses: [{ license_key: 'FIRST-KEY' }, { license_key: 'SECOND-KEY' }] } });
  const seats = async () => (await control()).seats;
  await command({ seller: 'take_seat', fingerprint: 'machine-1' });
  expect(await seats()).toEqual({ 'FIRST-KEY': 1, 'SECOND-KEY': 0 });
  await command({ seller: 'rotate_key', new_license_key: 'THIRD-KEY' });
  await command({ seller: 'free_seat', fingerprint: 'machine-1' });
});
