import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { keyNumber } from '../../conformance/cases/signing.ts';
import { openService } from '../../conformance/double/service.ts';
import { ACCOUNT, type World } from '../../conformance/world.ts';
import { CONFORMANCE, readSequences } from './files.ts';
import { type Double, runSequence } from './run-sequence.ts';
import { watchCrypto } from '../support/work.ts';
import type { VirtualTime } from './virtual-time.ts';

beforeAll(watchCrypto);

const openDouble = async (time: VirtualTime, world: World): Promise<Double> => {
  const { deliver, apply, report } = openService({ nowMs: time.nowMs, wait: time.wait }, world);
  const keys = { account: ACCOUNT, keys: [(await keyNumber(1)).jwk] };
  return { deliver, apply, report: async () => report(), keys };
};

/** The client's waits are partly random. What is expected holds for the shortest and for the longest. */
const RANDOM = [0, 0.999];

describe.for(readdirSync(`${CONFORMANCE}/sequences`))('sequences/%s', (name) => {
  const file = readSequences(name);
  // `$name` would cut a long name off.
  const named = file.sequences.map((sequence) => [sequence.name, sequence] as const);
  test.for(named)('%s', async ([, sequence]) => {
    for (const random of RANDOM) {
      const steps = await runSequence(file, sequence, openDouble, () => random);
      const toRead = (expect: 'expect' | 'seen') =>
        steps.map((step) => ({ at: step.at, event: step.event, expect: step[expect] }));
      expect(toRead('seen')).toEqual(toRead('expect'));
    }
  });
});

test('conformance/README.md explains each word of the sequences', () => {
  const readme = readFileSync(`${CONFORMANCE}/README.md`, 'utf8');
  const events = readdirSync(`${CONFORMANCE}/sequences`).flatMap((name) =>
    readSequences(name).sequences.flatMap(({ steps }) => steps.map(({ event }) => event)),
  );
  const words = events.flatMap((event) =>
    ['call', 'machine', 'store', 'network', 'seller'].map((kind) => (event as Record<string, unknown>)[kind]),
  );
  const unknown = new Set(words.filter((word) => typeof word === 'string' && !new RegExp(`["\`]${word}["\`]`).test(readme)));
  expect([...unknown]).toEqual([]);
});
