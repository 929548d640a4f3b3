import type { LicenseValues } from '../db/schema.ts';
import type { PlannedLicense } from './plan.ts';

// What an import does to licenses that exist, for its entry in the audit log.

export const noEffects = () => ({ suspended: 0, reinstated: 0, revoked: 0, extended: 0, shortened: 0 });

export type Effects = ReturnType<typeof noEffects>;
type Effect = keyof Effects;

const BY_STATUS = { active: 'reinstated', suspended: 'suspended', revoked: 'revoked' } as const;

/** Later than every date, for a license that doesn't end. */
const NEVER = '~';

const effectsOf = (before: LicenseValues, after: LicenseValues): Effect[] => {
  const effects: Effect[] = before.status === after.status ? [] : [BY_STATUS[after.status]];
  const [from, to] = [before.expiresAt ?? NEVER, after.expiresAt ?? NEVER];
  if (from !== to) effects.push(to > from ? 'extended' : 'shortened');
  return effects;
};

/** Adds what a commit has done. */
export const addEffects = (effects: Effects, licenses: PlannedLicense[]): void => {
  for (const { before, after } of licenses)
    for (const effect of before ? effectsOf(before, after) : []) effects[effect]++;
};
