import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lets the free plan of a checkout do what a test needs. */
export const liftLimits = (checkout: string) => {
  const file = join(checkout, 'src/shared/rules/plans.ts');
  const source = readFileSync(file, 'utf8');
  const changed = source.replace(/free: \{[^}]*\}/, (plan) =>
    plan
      .replace('licenseLimit: 10_000', 'licenseLimit: 1_000_000')
      .replace(/storageBytes: [\d_]+/, 'storageBytes: 1e12')
      .replace(/changesPerDay: [\d_]+/, 'changesPerDay: 1e9')
      .replace(/apiLimit: [\d_]+/, 'apiLimit: 1e9')
      .replace(/PerSecond: \d+/g, 'PerSecond: 1e6'),
  );
  if (changed === source) throw new Error('The free plan has other limits than expected.');
  writeFileSync(file, changed);
};
