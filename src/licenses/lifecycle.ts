import { AppError } from '../shared/app-error.ts';
import type { StoredLicenseStatus } from '../db/schema.ts';

export const TRANSITIONS = ['suspend', 'reinstate', 'revoke'] as const;
export type Transition = (typeof TRANSITIONS)[number];

const RULES: Record<Transition, { from: StoredLicenseStatus[]; to: StoredLicenseStatus }> = {
  suspend: { from: ['active'], to: 'suspended' },
  reinstate: { from: ['suspended'], to: 'active' },
  revoke: { from: ['active', 'suspended'], to: 'revoked' },
};

export const nextStatus = (status: StoredLicenseStatus, transition: Transition): StoredLicenseStatus => {
  const { from, to } = RULES[transition];
  if (!from.includes(status)) {
    throw new AppError('invalid_transition', { message: `Can’t ${transition} a license that is ${status}.` });
  }
  return to;
};
