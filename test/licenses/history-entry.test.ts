import { describe, expect, test } from 'vitest';
import type { LicenseSnapshot } from '../../src/db/schema.ts';
import { toHistoryEntry } from '../../src/licenses/history.ts';

describe('toHistoryEntry', () => {
  const license: Partial<LicenseSnapshot> = {
    status: 'active',
    expires_at: null,
    product: 'Orrery',
    customer_email: 'ada@example.com',
    customer_name: null,
    metadata: { seats: 1 },
  };

  const cases: {
    name: string;
    from?: Partial<LicenseSnapshot>;
    to: Partial<LicenseSnapshot>;
    action: string;
    fields: string[];
  }[] = [
    { name: 'a suspension', to: { status: 'suspended' }, action: 'suspended', fields: ['status'] },
    {
      name: 'a revocation',
      from: { status: 'suspended' },
      to: { status: 'revoked' },
      action: 'revoked',
      fields: ['status'],
    },
    {
      name: 'a return from suspended to active',
      from: { status: 'suspended' },
      to: { status: 'active' },
      action: 'reinstated',
      fields: ['status'],
    },
    { name: 'a new expiry', to: { expires_at: '2027-12-31' }, action: 'renewed', fields: ['expires_at'] },
    {
      name: 'a removed expiry',
      from: { expires_at: '2027-12-31' },
      to: { expires_at: null },
      action: 'renewed',
      fields: ['expires_at'],
    },
    { name: 'a removed product', to: { product: null }, action: 'changed', fields: ['product'] },
    {
      name: 'new metadata',
      to: { metadata: { seats: 1, trial: true } },
      action: 'changed',
      fields: ['metadata'],
    },
    {
      name: 'a new expiry along with another field',
      to: { product: null, expires_at: '2027-12-31' },
      action: 'changed',
      fields: ['expires_at', 'product'],
    },
    {
      name: 'a suspension along with other fields',
      to: { status: 'suspended', expires_at: '2027-12-31', customer_name: 'Ada' },
      action: 'suspended',
      fields: ['status', 'expires_at', 'customer_name'],
    },
  ];

  test.for(cases)('labels $name “$action”', ({ from, to, action, fields }) => {
    const before = { ...license, ...from };
    const entry = toHistoryEntry({ at: 0, before, after: { ...before, ...to } });
    expect([entry.action, ...entry.changes.map(({ field }) => field)]).toEqual([action, ...fields]);
  });
});
