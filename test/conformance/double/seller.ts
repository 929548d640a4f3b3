import type { CopiedLicense } from '../../../src/gate/rules/rows.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import type { ProductTerms } from '../../../src/shared/rules/terms.ts';
import type { FileVerdict } from '../../../src/gate/rules/seller.ts';
import { copiedLicense, FINGERPRINT, PRODUCT, PUBLISHED_RING, type WorldLicense } from '../world.ts';
import type { Gate } from './gate.ts';

interface Named {
  /** The license, if it isn't the first one. */
  license_key?: string;
}

/** What the seller, the account's other customers, and the operator do. */
export type SellerAct =
  | ({ seller: 'create' } & WorldLicense)
  | ({ seller: 'suspend' | 'reinstate' | 'revoke' | 'delete' } & Named)
  | ({ seller: 'renew'; expires_at: string | null } & Named)
  | ({ seller: 'rotate_key'; new_license_key: string } & Named)
  | { seller: 'change_product'; product?: string; terms: ProductTerms }
  | ({ seller: 'take_seat' | 'free_seat'; fingerprint: string } & Named)
  | ({ seller: 'issue_file'; fingerprint?: string | null; days?: number } & Named)
  | { seller: 'spend_quota' | 'delete_api_key' | 'rotate_signing_keys' };

const STATUSES = { suspend: 'suspended', reinstate: 'active', revoke: 'revoked' } as const;

/** What of the service changes without the gate. */
export interface Facts {
  hasKey: boolean;
  /** The current key first. */
  ring: string[];
}

type FileSigner = (issued: FileVerdict & { refused: null }, fingerprint: string | null) => Promise<string>;

export const openSeller = (
  gate: Gate,
  facts: Facts,
  nowMs: () => number,
  signFile: FileSigner,
  firstKey: string,
) => {
  let ownKey = firstKey;
  const write = (license: CopiedLicense) => gate.apply({ licenses: [license] });
  const find = ({ license_key: key = ownKey }: Named): CopiedLicense => {
    const license = gate.find(key);
    if (!license) throw new Error(`There is no license ${key}.`);
    return license;
  };

  const erase = ({ id, licenseKey }: CopiedLicense) =>
    gate.apply({ erasedKeys: [licenseKey], deletedLicenses: [id] });

  const issueFile = async (act: SellerAct & { seller: 'issue_file' }): Promise<string> => {
    const license = find(act);
    const fingerprint = act.fingerprint === undefined ? FINGERPRINT : act.fingerprint;
    const request = { licenseKey: license.licenseKey, fingerprint: fingerprint ?? undefined, days: act.days };
    const issued = gate.issueFile(license, request, nowMs());
    if (issued.refused !== null) throw new Error(`No file is issued: ${issued.refused}.`);
    return signFile(issued, fingerprint);
  };

  /** Returns the file that was issued, if one was. */
  return async (act: SellerAct): Promise<{ file?: string }> => {
    switch (act.seller) {
      case 'create':
        write(copiedLicense(act, newId('lic')));
        break;
      case 'suspend':
      case 'reinstate':
      case 'revoke':
        write({ ...find(act), status: STATUSES[act.seller] });
        break;
      case 'renew':
        write({ ...find(act), expiresAt: act.expires_at });
        break;
      case 'delete':
        erase(find(act));
        break;
      case 'rotate_key': {
        const license = find(act);
        erase(license);
        write({ ...license, licenseKey: act.new_license_key });
        if (license.licenseKey === ownKey) ownKey = act.new_license_key;
        break;
      }
      case 'change_product':
        gate.apply({ products: [{ code: act.product ?? PRODUCT, terms: act.terms }] });
        break;
      case 'take_seat': {
        const input = { license_key: find(act).licenseKey, fingerprint: act.fingerprint };
        gate.call({ name: 'activate', input, isPlain: false }, nowMs());
        break;
      }
      case 'free_seat':
        gate.release(find(act), act.fingerprint, nowMs());
        break;
      case 'issue_file':
        return { file: await issueFile(act) };
      case 'spend_quota':
        gate.count(gate.usageAt(nowMs()).remaining, nowMs());
        break;
      case 'delete_api_key':
        facts.hasKey = false;
        break;
      case 'rotate_signing_keys': {
        const next = PUBLISHED_RING[facts.ring.length];
        if (next) facts.ring = [next, ...facts.ring];
        break;
      }
      default:
        throw new TypeError('The seller doesn’t do that.');
    }
    return {};
  };
};
