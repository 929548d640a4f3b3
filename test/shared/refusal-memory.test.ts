import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Refusal } from '../../src/gate/rules/calls.ts';
import { createKeyRefusals } from '../../src/shared/memory/key-refusals.ts';
import { createRefusalMemory } from '../../src/shared/memory/refusal-memory.ts';
import { decideRate, type RateDecision } from '../../src/shared/rules/rate.ts';

const invalid = (holdsMs: number): Refusal => ({ refused: 'api_key_invalid', holdsMs });

const refusalOf = (decision: RateDecision): Refusal | null => {
  if (decision.allowed) return null;
  const { state: rate, retryAfterSeconds, waitMs } = decision;
  return { refused: 'rate_limit_exceeded', rate, retryAfterSeconds, holdsMs: waitMs };
};

/** What a caller sees of a refusal. */
const headersOf = (refusal: Refusal | null) => refusal && { ...refusal, holdsMs: null };

test('remembering refusals changes no decision of the rate limit', () => {
  const rates = fc.constantFrom(10, 100, 1_000);
  const pauses = fc.array(fc.oneof(fc.nat(5), fc.nat(300)), { maxLength: 300 });
  fc.assert(
    fc.property(rates, pauses, (callsPerSecond, gaps) => {
      const memory = createRefusalMemory<Refusal>(10);
      let nowMs = 1_000_000;
      let recoveredAtMs = 0;
      for (const gap of gaps) {
        nowMs += gap;
        const decision = decideRate(recoveredAtMs, nowMs, callsPerSecond);
        const refusal = refusalOf(decision);
        const recalled = memory.recall('key', nowMs);
        expect(headersOf(recalled ?? refusal)).toEqual(headersOf(refusal));
        if (refusal) memory.remember('key', refusal, nowMs);
        recoveredAtMs = decision.recoveredAtMs;
      }
    }),
    { seed: 4 },
  );
});

test('refusals of a key from many addresses make none of another key forgotten', () => {
  const refusals = createKeyRefusals<Refusal>(10);
  const keyOf = (fingerprint: string, ip: string) => ({ accountId: 'a', keyId: 'k', fingerprint, ip });
  const rate = { quota: 1, windowSeconds: 1, remaining: 0, resetSeconds: 1 };
  const tooFast = { refused: 'rate_limit_exceeded', rate, retryAfterSeconds: 1, holdsMs: 60_000 } as const;
  refusals.remember(keyOf('deleted', '192.0.2.1'), invalid(60_000), 1_000);
  for (let i = 0; i < 100; i++)
    refusals.remember(keyOf('foreign', `2001:db8::${i}`), { ...tooFast, isForeign: true }, 1_000);
  expect(refusals.recall(keyOf('deleted', '192.0.2.1'), 2_000)).not.toBeNull();
  expect(refusals.recall(keyOf('foreign', '2001:db8::99'), 2_000)).not.toBeNull();
  expect(refusals.recall(keyOf('foreign', '2001:db8::a:1'), 2_000)).toBeNull();
});

test('a refusal is forgotten when its time is up', () => {
  const memory = createRefusalMemory<Refusal>(10);
  memory.remember('key', invalid(100), 1_000);
  expect(memory.recall('key', 1_099)).toEqual(invalid(100));
  expect(memory.recall('key', 1_100)).toBeNull();
  expect(memory.recall('other', 1_000)).toBeNull();
});

test('a refusal that holds for a shorter time does not replace a longer one', () => {
  const memory = createRefusalMemory<Refusal>(10);
  memory.remember('key', invalid(10_000), 1_000);
  memory.remember('key', invalid(100), 1_010);
  expect(memory.recall('key', 5_000)).toEqual(invalid(10_000));
});

test('a refusal is ignored after the clock was set back', () => {
  const memory = createRefusalMemory<Refusal>(10);
  memory.remember('key', invalid(100), 9_000_000);
  expect(memory.recall('key', 1_000)).toBeNull();
  memory.remember('key', invalid(50), 1_000);
  expect(memory.recall('key', 1_049)).toEqual(invalid(50));
});

test('a refusal without a time is not remembered', () => {
  const memory = createRefusalMemory<Refusal>(10);
  memory.remember('key', { refused: 'unavailable' }, 1_000);
  memory.remember('key', { refused: 'api_key_invalid' }, 1_000);
  expect(memory.recall('key', 1_000)).toBeNull();
});

test('memory is bounded', () => {
  const memory = createRefusalMemory<Refusal>(10);
  for (let i = 0; i < 1_000; i++) memory.remember(`key-${i}`, invalid(100), 1_000);
  const remembered = Array.from({ length: 1_000 }, (_, i) => memory.recall(`key-${i}`, 1_000)).filter(
    Boolean,
  );
  expect(remembered.length).toBeLessThanOrEqual(20);
});
