import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { COPY_VERSION } from '../../src/gate/home/copy-tables.ts';
import { type Copy, openCopy } from '../../src/gate/home/copy.ts';
import type { Rows } from '../../src/gate/rules/rows.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { COPIED_ACCOUNT, COPIED_KEY } from '../support/gate.ts';

const NO_ROWS: Rows = { keys: [], licenses: [], products: [], erasedKeys: [], deletedLicenses: [] };
const terms = (plan: PlanName) => ({ ...COPIED_ACCOUNT, plan });
const key = (deleted = false) => ({ ...COPIED_KEY, id: 'key_1', deleted });
const license = (status: 'active' | 'suspended' | 'revoked', licenseKey = 'L-1') => ({
  licenseKey,
  id: `lic_${licenseKey}`,
  status,
  expiresAt: null,
  customerEmail: 'ada@example.com',
  product: null,
  terms: {},
  updatesUntil: null,
});

/** The position after a feed row that was written at some time. */
const at = (appliedSeq: number) => ({ appliedSeq, appliedAt: appliedSeq * 1_000 });

/** Runs `work` on a local copy in its own storage; `reopen` opens the copy as after a restart. */
const withCopy = (work: (copy: Copy, reopen: (epoch?: string) => Copy) => void) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) =>
    work(openCopy(storage.sql, '1'), (epoch = '1') => openCopy(storage.sql, epoch)),
  );

test('a background load or read-through never overwrites what the feed wrote', () =>
  withCopy((copy, reopen) => {
    copy.apply(
      { ...NO_ROWS, account: terms('pro'), keys: [key(true)], licenses: [license('suspended')] },
      at(7),
    );
    copy.adoptPage(
      {
        ...NO_ROWS,
        account: terms('free'),
        keys: [key()],
        licenses: [license('active'), license('active', 'L-2')],
      },
      true,
      7,
    );
    copy.adopt({ ...NO_ROWS, keys: [key()], licenses: [license('active')] });
    for (const opened of [copy, reopen()]) {
      expect(opened.key('key_1')?.deleted).toBe(true);
      expect(opened.findLicense('L-1')?.status).toBe('suspended');
      expect(opened.findLicense('L-2')?.status).toBe('active');
      expect(opened.account()).toEqual(terms('pro'));
      expect(opened.progress()).toEqual({
        version: COPY_VERSION,
        epoch: '1',
        ...at(7),
        loadedThrough: 'lic_L-2',
        complete: true,
        reload: null,
      });
    }
  }));

test('a revocation is final, whatever D1 says after a restore, unless it was taken back', () =>
  withCopy((copy, reopen) => {
    const tell = (read: Rows['licenses'][number], seq: number) => {
      copy.apply({ ...NO_ROWS, licenses: [read] }, at(seq));
      return [copy, reopen()].map((opened) => opened.findLicense('L-1')?.status);
    };
    expect(tell(license('revoked'), 1)).toEqual(['revoked', 'revoked']);
    expect(tell(license('active'), 2)).toEqual(['revoked', 'revoked']);
    expect(tell({ ...license('active'), isLifted: true }, 3)).toEqual(['active', 'active']);
    expect(tell({ ...license('revoked'), isLifted: true }, 4)).toEqual(['revoked', 'revoked']);
  }));

test('the feed overwrites what a background load wrote', () =>
  withCopy((copy, reopen) => {
    copy.adoptPage(
      { ...NO_ROWS, account: terms('free'), keys: [key()], licenses: [license('active')] },
      false,
      0,
    );
    copy.apply(
      { ...NO_ROWS, account: terms('scale'), keys: [key(true)], licenses: [license('suspended')] },
      at(1),
    );
    for (const opened of [copy, reopen()]) {
      expect(opened.key('key_1')?.deleted).toBe(true);
      expect(opened.findLicense('L-1')?.status).toBe('suspended');
      expect(opened.account()).toEqual(terms('scale'));
    }
  }));

test('a complete copy keeps the latest 1,000 deleted keys, and no read-through brings one back', () =>
  withCopy((copy) => {
    const keys = Array.from({ length: 1_002 }, (_, i) => ({ ...key(true), id: `key_${10_000 + i}` }));
    copy.apply({ ...NO_ROWS, keys: [...keys, key()] }, at(1));
    expect(copy.pruneDeletedKeys()).toEqual([]);
    copy.adoptPage(NO_ROWS, true, 1);
    expect(copy.pruneDeletedKeys().toSorted()).toEqual(['key_10000', 'key_10001']);
    copy.adopt({ ...NO_ROWS, keys: [{ ...key(), id: 'key_10000' }] });
    expect(copy.key('key_10000')).toBeNull();
    expect(copy.key('key_10002')?.deleted).toBe(true);
    expect(copy.key('key_1')?.deleted).toBe(false);
  }));

test('a new epoch empties a copy that was still loading', () =>
  withCopy((copy, reopen) => {
    copy.apply({ ...NO_ROWS, account: terms('pro'), keys: [key()], licenses: [license('active')] }, at(9));
    const emptied = reopen('2');
    expect(emptied.account()).toBeNull();
    expect(emptied.key('key_1')).toBeNull();
    expect(emptied.findLicense('L-1')).toBeNull();
    expect(emptied.progress()).toMatchObject({ epoch: '2', loadedThrough: '', complete: false });
  }));

test('an epoch that ends with -exact takes D1 to be right, also if the gate restarts meanwhile', () =>
  withCopy((copy, reopen) => {
    const rows = { ...NO_ROWS, account: terms('pro') };
    copy.adoptPage(
      { ...rows, keys: [key(true)], licenses: [license('revoked'), license('active', 'LOST')] },
      true,
      0,
    );
    copy.apply({ ...rows, erasedKeys: ['GONE'] }, at(5));
    const restored = { ...rows, keys: [key()], licenses: [license('active'), license('active', 'GONE')] };
    const load = (opened: Copy) => {
      opened.adoptPage(restored, true, 5);
      const statusOf = (licenseKey: string) => opened.findLicense(licenseKey)?.status;
      const statuses = ['L-1', 'LOST', 'GONE'].map(statusOf);
      return [...statuses, opened.key('key_1')?.deleted, opened.orphans.total()];
    };
    expect(load(reopen('2'))).toEqual(['revoked', 'active', undefined, true, 1]);
    expect(reopen('3-exact').findLicense('L-1')?.status).toBe('revoked');
    expect(load(reopen('3-exact'))).toEqual(['active', undefined, 'active', false, 0]);
    // The next epoch without it keeps what D1 has lost, as before.
    restored.licenses = [license('active')];
    expect(load(reopen('4'))).toEqual(['active', undefined, 'active', false, 1]);
  }));

test('an epoch that ends with -exact empties a copy that was still loading, and what it had kept', () =>
  withCopy((copy, reopen) => {
    copy.apply({ ...NO_ROWS, erasedKeys: ['GONE'], licenses: [license('revoked')] }, at(5));
    const exact = reopen('2-exact');
    exact.adoptPage(
      { ...NO_ROWS, account: terms('pro'), licenses: [license('active'), license('active', 'GONE')] },
      true,
      5,
    );
    expect(exact.findLicense('L-1')?.status).toBe('active');
    expect(exact.findLicense('GONE')?.status).toBe('active');
  }));

test('a new epoch reloads a complete copy beside it, and the old copy answers until the new one is complete', () =>
  withCopy((copy, reopen) => {
    copy.adoptPage(
      {
        ...NO_ROWS,
        account: terms('pro'),
        keys: [key()],
        licenses: [license('active'), license('active', 'L-2')],
      },
      true,
      0,
    );
    copy.apply({ ...NO_ROWS, licenses: [license('suspended')] }, at(5));
    const reloading = reopen('2');
    expect(reloading.loadPosition()).toBe('');
    expect(reloading.findLicense('L-1')?.status).toBe('suspended');

    // D1 has lost L-2, which the copy keeps, has L-3, and its plan is another one. Meanwhile L-3 is suspended.
    reloading.adoptPage(
      { ...NO_ROWS, account: terms('scale'), keys: [key()], licenses: [license('active', 'L-1')] },
      false,
      5,
    );
    reloading.apply({ ...NO_ROWS, licenses: [license('suspended', 'L-3')] }, at(6));
    for (const opened of [reloading, reopen('2')]) {
      expect(opened.findLicense('L-1')?.status).toBe('suspended');
      expect(opened.findLicense('L-2')?.status).toBe('active');
      expect(opened.findLicense('L-3')?.status).toBe('suspended');
      expect(opened.loadPosition()).toBe('lic_L-1');
    }
    reloading.adoptPage({ ...NO_ROWS, licenses: [license('active', 'L-3')] }, true, 6);
    for (const opened of [reloading, reopen('2')]) {
      expect(opened.account()).toEqual(terms('scale'));
      expect(opened.key('key_1')?.deleted).toBe(false);
      expect(opened.findLicense('L-1')?.status).toBe('active');
      expect(opened.findLicense('L-2')?.status).toBe('active');
      expect(opened.findLicense('L-3')?.status).toBe('suspended');
      expect(opened.loadPosition()).toBeNull();
    }
  }));

test('a license key that was erased stays so, also if a restored D1 has it', () =>
  withCopy((copy) => {
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active')] }, false, 0);
    copy.apply({ ...NO_ROWS, erasedKeys: ['L-1'] }, at(1));
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active'), license('active', 'L-2')] }, false, 0);
    expect(copy.findLicense('L-1')).toBeNull();
    copy.restart();
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active')] }, true, 0);
    expect(copy.findLicense('L-1')).toBeNull();
    copy.reload(true);
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active')] }, true, 0);
    expect(copy.findLicense('L-1')?.status).toBe('active');
  }));

test('a copy that is to become exactly as D1 is does so although the account changes meanwhile', () =>
  withCopy((copy) => {
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active')] }, true, 0);
    copy.apply({ ...NO_ROWS, erasedKeys: ['L-1'] }, at(1));
    copy.reload(true);
    // The feed of a restored D1 doesn't continue what the gate has read.
    copy.restart();
    copy.adoptPage({ ...NO_ROWS, licenses: [license('active')] }, true, 0);
    expect(copy.findLicense('L-1')?.status).toBe('active');
  }));

test('an incomplete copy knows a license only together with the terms of its product', () =>
  withCopy((copy, reopen) => {
    const seated = { ...license('active'), product: 'orrery' };
    copy.adoptPage({ ...NO_ROWS, licenses: [seated] }, false, 0);
    expect([copy.knows('L-1'), reopen().knows('L-1')]).toEqual([false, false]);
    copy.adopt({ ...NO_ROWS, products: [{ code: 'orrery', terms: { max_activations: 2 } }] });
    expect([copy.knows('L-1'), reopen().knows('L-1')]).toEqual([true, true]);
    expect(reopen().termsOf(seated)).toMatchObject({ maxActivations: 2 });
  }));
