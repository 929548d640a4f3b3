import { describe, expect, test } from 'vitest';
import type { Seat } from '../../src/gate/rules/seats.ts';
import { fileVerdict, judgeFile, judgeImport, judgeRelease } from '../../src/gate/rules/seller.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import {
  ENDED,
  FLOATING,
  type Given,
  machineOf,
  NODE_LOCKED,
  NOW,
  seatOf,
  situationOf,
  summaryOf,
  UNLIMITED,
} from '../support/judge.ts';

describe('a seller who releases a seat', () => {
  const release = (seat: Seat | null, isForced = false) =>
    summaryOf(judgeRelease(seat && machineOf(1, seat), isForced, NOW));

  test('frees it from now on', () => {
    expect(release(seatOf())).toMatchObject({ code: 'released', seat: { releasedAtMs: NOW } });
  });

  test('finds no seat that was released before, or none at all', () => {
    const nothing = { code: 'not_found', kinds: [] };
    expect(release(null)).toMatchObject(nothing);
    expect(release(seatOf({ releasedAtMs: NOW - DAY_MS }))).toMatchObject(nothing);
  });

  test('frees one that an offline file holds only by force, also after the machine has left', () => {
    const held = seatOf({ fileUntilMs: NOW + DAY_MS });
    const left = { ...held, releasedAtMs: NOW - DAY_MS };
    for (const seat of [held, left]) {
      expect(release(seat)).toMatchObject({ code: 'held_by_file', kinds: [] });
      expect(release(seat, true)).toMatchObject({ code: 'released', seat: { fileUntilMs: null } });
    }
  });
});

describe('an offline file', () => {
  const issue = (given: Given = {}, days?: number) =>
    summaryOf(judgeFile(situationOf('activate', given), days));

  test('takes a seat and holds it until the file ends', () => {
    const fileUntilMs = NOW + 9 * DAY_MS;
    expect(issue({}, 9)).toMatchObject({ code: 'valid', kinds: ['take machine-1'], seat: { fileUntilMs } });
  });

  test('holds the seat that its machine has, and writes nothing if another file holds it for longer', () => {
    const isHeld = { code: 'valid', kinds: ['renew machine-1'], seat: { fileUntilMs: NOW + DAY_MS } };
    expect(issue({ seat: seatOf() }, 1)).toMatchObject(isHeld);
    const seat = seatOf({ fileUntilMs: NOW + 2 * DAY_MS });
    expect(issue({ seat }, 1)).toMatchObject({ code: 'valid', kinds: [] });
  });

  test('ends with its license', () => {
    const license = { ...ENDED, expiresAt: '2026-11-23' };
    expect(issue({ license }, 9).seat).toMatchObject({ fileUntilMs: NOW + 2 * DAY_MS });
  });

  test('needs a license that is active, days, and a free seat', () => {
    expect(issue({ license: ENDED, used: 2 }, 9)).toMatchObject({ code: 'expired', kinds: [] });
    expect(issue({ terms: { ...NODE_LOCKED, offlineDays: 0 }, used: 2 })).toMatchObject({
      code: 'days_required',
      kinds: [],
    });
    expect(issue({ used: 2 }, 9)).toMatchObject({ code: 'no_seat', kinds: [] });
    expect(issue({ input: { fingerprint: undefined } })).toMatchObject({ code: 'fingerprint_required' });
  });

  test('needs no seat where seats are not limited, and names no machine then', () => {
    const situation = situationOf('activate', { terms: UNLIMITED, seat: seatOf() });
    expect(summaryOf(judgeFile(situation, 9))).toMatchObject({ code: 'valid', kinds: [] });
    expect(fileVerdict(situation, 9, situation.machine)).toMatchObject({ activation: null, offline_days: 9 });
  });

  test('says nothing of a lease', () => {
    const situation = situationOf('activate', {
      terms: FLOATING,
      seat: seatOf({ leaseUntilMs: NOW + 60_000 }),
    });
    expect(fileVerdict(situation, undefined, situation.machine)).toMatchObject({
      activation: { id: 'act_1', lease_until: null },
      offline_days: FLOATING.offlineDays,
    });
  });
});

describe('a machine of an import', () => {
  const machine = { name: null, platform: null, appVersion: null };
  const bring = (seat: Seat, given: Given = {}) =>
    summaryOf(
      judgeImport(
        { licenseKey: 'L-1', fingerprint: 'machine-1', ...machine, seat },
        situationOf('activate', given),
      ),
    );
  const left = seatOf({ releasedAtMs: NOW - DAY_MS });

  test('keeps its seat if one is free', () => {
    expect(bring(seatOf(), { used: 1 })).toMatchObject({ code: 'created', kinds: ['take machine-1'] });
    expect(bring(seatOf(), { used: 2 })).toMatchObject({ code: 'no_seat', kinds: [] });
    expect(bring(seatOf(), { used: 2, terms: UNLIMITED })).toMatchObject({ code: 'created' });
  });

  test('is added without a seat if it has released it', () => {
    expect(bring(left, { used: 2 })).toMatchObject({ code: 'created', kinds: ['add machine-1'], seat: left });
  });

  test('is left alone if it is known, or has held no seat within 30 days', () => {
    expect(bring(seatOf(), { seat: left })).toMatchObject({ code: 'unchanged', kinds: [] });
    const old = seatOf({ releasedAtMs: NOW - 31 * DAY_MS });
    expect(bring(old)).toMatchObject({ code: 'skipped', kinds: [] });
    expect(bring(old, { license: null })).toMatchObject({ code: 'license_not_found', kinds: [] });
  });
});
