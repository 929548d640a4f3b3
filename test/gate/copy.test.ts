import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { type Copy, openCopy, type Rows } from '../../src/gate/copy.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import { newId } from '../../src/shared/ids.ts';

const NO_ROWS: Rows = { keys: [], licenses: [] };
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

/** Runs `work` on a local copy in its own storage; `reopen` opens the copy as after a restart. */
const withCopy = (work: (copy: Copy, reopen: (epoch?: string) => Copy) => void) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) =>
    work(openCopy(storage.sql, '1'), (epoch = '1') => openCopy(storage.sql, epoch)),
  );

test('a background load or read-through never overwrites what the feed wrote', () =>
  withCopy((copy, reopen) => {
    copy.apply({ account: terms('pro'), keys: [key(true)], licenses: [license('suspended')] }, 7);
    copy.adoptPage(
      { account: terms('free'), keys: [key()], licenses: [license('active'), license('active', 'L-2')] },
      true,
    );
    copy.adopt({ ...NO_ROWS, keys: [key()], licenses: [license('active')] });
    for (const opened of [copy, reopen()]) {
      expect(opened.key('key_1')?.deleted).toBe(true);
      expect(opened.findLicense('L-1')?.status).toBe('suspended');
      expect(opened.findLicense('L-2')?.status).toBe('active');
      expect(opened.account()).toEqual(terms('pro'));
      expect(opened.progress()).toEqual({
        version: 1,
        epoch: '1',
        appliedSeq: 7,
        loadedThrough: 'lic_L-2',
        complete: true,
      });
    }
  }));

test('the feed overwrites what a background load wrote', () =>
  withCopy((copy, reopen) => {
    copy.adoptPage({ account: terms('free'), keys: [key()], licenses: [license('active')] }, false);
    copy.apply({ account: terms('scale'), keys: [key(true)], licenses: [license('suspended')] }, 1);
    for (const opened of [copy, reopen()]) {
      expect(opened.key('key_1')?.deleted).toBe(true);
      expect(opened.findLicense('L-1')?.status).toBe('suspended');
      expect(opened.account()).toEqual(terms('scale'));
    }
  }));

test('a new epoch clears the local copy', () =>
  withCopy((copy, reopen) => {
    copy.apply({ account: terms('pro'), keys: [key()], licenses: [license('active')] }, 9);
    const emptied = reopen('2');
    expect(emptied.account()).toBeNull();
    expect(emptied.key('key_1')).toBeNull();
    expect(emptied.findLicense('L-1')).toBeNull();
    expect(emptied.progress()).toEqual({
      version: 1,
      epoch: '2',
      appliedSeq: 0,
      loadedThrough: '',
      complete: false,
    });
  }));
