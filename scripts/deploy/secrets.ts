// The secrets of a service are made once. They are in the recovery file before the Worker has them, so that a deployment that is cut
// off loses none. What the Worker has is never replaced: it may have been rotated since.
import { existsSync } from 'node:fs';
import { fail } from './fail.ts';
import { newSecrets, type Secrets, unseal, writeRecovery } from './recovery.ts';
import type { Target } from './target.ts';
import { askPassphrase } from './terminal.ts';

/** Returns the secrets of the recovery file with its passphrase, or null if there is no such file. */
export const openRecovery = async ({ recoveryFile }: Target) => {
  if (!existsSync(recoveryFile)) return null;
  const passphrase = await askPassphrase(recoveryFile, false);
  return { passphrase, secrets: unseal(recoveryFile, passphrase) };
};

/** Stops the deployment rather than make new secrets for a database that has accounts, whose API keys depend on the old ones. */
export const refuseToMake = ({ recoveryFile }: Target, names: string[], hasAccounts: boolean): void => {
  // Nothing that is stored depends on this one.
  const lost = names.filter((name) => name !== 'OPERATOR_TOKEN');
  if (hasAccounts && lost.length > 0)
    fail(
      `The database has accounts, but neither the Worker nor ${recoveryFile} has ${lost.join(', ')}. With new ones, none of the API keys would work. Bring the file back.`,
    );
};

/** Returns the secrets that the Worker lacks, from the recovery file, or new ones, which are then in that file. */
export const takeSecrets = async (
  target: Target,
  missing: string[],
  hasAccounts: boolean,
): Promise<Secrets> => {
  const { recoveryFile } = target;
  const opened = await openRecovery(target);
  const unknown = missing.filter((name) => !opened?.secrets[name]);
  refuseToMake(target, unknown, hasAccounts);
  const all = { ...opened?.secrets, ...newSecrets(unknown) };
  if (unknown.length > 0) {
    writeRecovery(recoveryFile, all, opened?.passphrase ?? (await askPassphrase(recoveryFile, true)));
    console.log(`  Keep a copy of ${recoveryFile}, and its passphrase, where you keep such things.`);
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => missing.includes(name)));
};
