import type { AccountDatabase } from '../../db/client.ts';
import { logError } from '../../shared/text/log.ts';
import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import type { AdmissionControl } from '../object/admission.ts';
import type { Copy } from './copy.ts';
import { readThrough } from './source.ts';
import type { Upkeep } from './upkeep.ts';

interface Parts {
  db: () => AccountDatabase;
  accountId: string;
  copy: Copy;
  admission: AdmissionControl;
  upkeep: Upkeep;
}

/**
 * While the copy is incomplete, reads the key and the license that a call needs from D1, unless the copy has them. Returns
 * false if D1 can't be reached.
 */
export const openReadThrough =
  ({ db, accountId, copy, admission, upkeep }: Parts) =>
  async (presented: PresentedKey | null, licenseKey: string | null): Promise<boolean> => {
    if (copy.progress().complete) return true;
    if (presented && admission.recall(presented, Date.now())) return true;
    const hasLicense = licenseKey === null || copy.knows(licenseKey);
    if (hasLicense && copy.account() && (!presented || copy.key(presented.keyId))) return true;
    try {
      await upkeep.arm();
      copy.adopt(await readThrough(db(), accountId, presented?.keyId ?? '', licenseKey));
      return true;
    } catch (error) {
      logError('gate_read_through_failed', error, { account_id: accountId });
      return false;
    }
  };
