import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { type Copy, openCopy, type Rows } from '../../src/gate/copy.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import { newId } from '../../src/shared/ids.ts';

const nothing: Rows = { keys: [], licenses: [] };
const terms = (plan: PlanName) => ({ plan, periodStart: null, periodEnd: null, planUntil: null });
const key = (deleted = false) => ({
  id: 'key_1',
  fingerprint: 'f',
  scope: 'full' as const,
  expiresAt: null,
  deleted,
});
const license = (status: 'active' | 'suspended', licenseKey = 'L-1') => ({
  licenseKey,
  id: `lic_${licenseKey}`,
  status,
  expiresAt: null,
  customerEmail: 'ada@example.com',
});

/** A copy in real storage of its own, and a way to open it again as after a restart. */
const withCopy = (work: (copy: Copy, reopen: (epoch?: string) => Copy) => void) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) =>
    work(openCopy(storage.sql, '1'), (epoch = '1') => openCopy(storage.sql, epoch)),
  );

test('what a load read before the feed spoke never overwrites it: neither a status nor a deletion', () =>
  withCopy((copy, reopen) => {
    copy.apply({ account: terms('pro'), keys: [key(true)], licenses: [license('suspended')] }, 7);
    copy.adoptPage(
      { account: terms('free'), keys: [key()], licenses: [license('active'), license('active', 'L-2')] },
      true,
    );
    copy.adopt({ ...nothing, keys: [key()], licenses: [license('active')] });
    for (const seen of [copy, reopen()]) {
      expect(seen.key('key_1')?.deleted).toBe(true);
      expect(seen.findLicense('L-1')?.status).toBe('suspended');
      expect(seen.findLicense('L-2')?.status).toBe('active');
      expect(seen.account()).toEqual(terms('pro'));
      expect(seen.progress()).toEqual({
        epoch: '1',
        appliedSeq: 7,
        loadedThrough: 'lic_L-2',
        complete: true,
      });
    }
  }));

test('what the feed says overwrites what a load has brought', () =>
  withCopy((copy, reopen) => {
    copy.adoptPage({ account: terms('free'), keys: [key()], licenses: [license('active')] }, false);
    copy.apply({ account: terms('scale'), keys: [key(true)], licenses: [license('suspended')] }, 1);
    for (const seen of [copy, reopen()]) {
      expect(seen.key('key_1')?.deleted).toBe(true);
      expect(seen.findLicense('L-1')?.status).toBe('suspended');
      expect(seen.account()).toEqual(terms('scale'));
    }
  }));

test('a raised epoch starts the copy anew', () =>
  withCopy((copy, reopen) => {
    copy.apply({ account: terms('pro'), keys: [key()], licenses: [license('active')] }, 9);
    const anew = reopen('2');
    expect(anew.account()).toBeNull();
    expect(anew.key('key_1')).toBeNull();
    expect(anew.findLicense('L-1')).toBeNull();
    expect(anew.progress()).toEqual({ epoch: '2', appliedSeq: 0, loadedThrough: '', complete: false });
  }));
