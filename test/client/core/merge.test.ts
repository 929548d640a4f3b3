import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Holding, merge } from '../../../src/client/core/holding.ts';
import { EMPTY_RECORD } from '../../../src/client/core/record.ts';
import type { KnownVerdict } from '../../../src/client/core/verdicts.ts';
import { storedVerdict } from '../../../src/client/core/verdicts.ts';
import type { Claims } from '../../../src/shared/rules/tokens.ts';

// Two processes have one store. Whatever they have seen, what was answered later counts, and nothing of it is lost.

const verdictOf = (iat: number, days: number): KnownVerdict =>
  storedVerdict({ iat, exp: iat + days * 86_400, valid: true, act: null } as Claims);

/** What a process holds after an answer. An answer at the same second is the same answer, except for what is in it. */
const holding = fc
  .record({
    answeredAt: fc.integer({ min: 1, max: 4 }),
    token: fc.constantFrom('one', 'two'),
    licenseKey: fc.constantFrom('key-one', 'key-two'),
    markMs: fc.integer({ min: 0, max: 9 }),
    days: fc.constantFrom(0, 14),
    hasVerdict: fc.boolean(),
    hasFile: fc.boolean(),
  })
  .map(({ days, hasVerdict, hasFile, ...fields }): Holding => ({
    record: { ...EMPTY_RECORD, ...fields, file: hasFile ? 'file' : null },
    verdict: hasVerdict ? verdictOf(fields.answeredAt, days) : null,
    file: hasFile ? verdictOf(fields.answeredAt, 14) : null,
  }));

const isSameToken = (a: Holding, b: Holding) =>
  a.record.token === b.record.token && a.record.licenseKey === b.record.licenseKey;

const check = (property: (own: Holding, stored: Holding) => void) =>
  fc.assert(fc.property(holding, holding, property), { seed: 20_261_125, numRuns: 2_000 });

test('what this process was answered later stays as it is', () => {
  check((own, stored) => {
    fc.pre(own.record.answeredAt > stored.record.answeredAt);
    expect(merge(own, stored)).toEqual(own);
  });
});

test('what another process was answered later counts, with its file and its mark', () => {
  check((own, stored) => {
    fc.pre(own.record.answeredAt < stored.record.answeredAt);
    const merged = merge(own, stored);
    expect([merged.record, merged.file]).toEqual([stored.record, stored.file]);
  });
});

test('of the same answer, the later mark counts, so that no process turns the clock back for another', () => {
  check((own, stored) => {
    fc.pre(own.record.answeredAt === stored.record.answeredAt);
    const markMs = Math.max(own.record.markMs, stored.record.markMs);
    expect(merge(own, stored).record).toEqual({ ...stored.record, markMs });
  });
});

test('the verdict is that of the record’s token, and the own one where it says more than the token', () => {
  check((own, stored) => {
    fc.pre(own.record.answeredAt <= stored.record.answeredAt);
    const { verdict } = merge(own, stored);
    // With `offline_days: 0`, the token of another process is over when it is read.
    const isOver = stored.verdict !== null && stored.verdict.claims.exp === stored.verdict.claims.iat;
    const isOwn = isSameToken(own, stored) || (isOver && own.verdict !== null);
    expect(verdict).toBe(isOwn ? own.verdict : stored.verdict);
  });
});
