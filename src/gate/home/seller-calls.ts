import type { Activations } from './activations.ts';
import type { Applications } from './applications.ts';
import type {
  FileRequest,
  FileVerdict,
  ImportedSeat,
  ImportedSeatResult,
  ReleaseResult,
  SeatPage,
} from '../rules/seller-types.ts';
import type { Copy } from './copy.ts';
import type { HomeBranches } from './branches.ts';
import type { SeatChange } from './seat-history.ts';
import type { CopiedLicense } from '../rules/rows.ts';

interface Parts {
  copy: Copy;
  activations: Activations;
  applications: Applications;
  branches: Pick<HomeBranches, 'acknowledged'>;
  ensureKnown: (presented: null, licenseKey: string) => Promise<boolean>;
  commit: () => Promise<void>;
}

/** What a seller does with a license's seats. Each call answers null if the license isn't known and D1 can't be reached. */
export const openSellerCalls = ({
  copy,
  activations,
  applications,
  branches,
  ensureKnown,
  commit,
}: Parts) => {
  const findLicense = async (licenseKey: string) =>
    (await ensureKnown(null, licenseKey)) ? copy.findLicense(licenseKey) : null;

  return {
    exportActivations: activations.listAll,
    exportHistory: activations.history.listAll,

    importSeats: async (seats: ImportedSeat[], isDryRun: boolean): Promise<ImportedSeatResult[] | null> => {
      for (const { licenseKey } of seats) if (!(await ensureKnown(null, licenseKey))) return null;
      const known = seats.map((seat): [CopiedLicense | null, ImportedSeat] => [
        copy.license(seat.licenseKey),
        seat,
      ]);
      const results = applications.importSeats(known, isDryRun, Date.now());
      await commit();
      await branches.acknowledged();
      return results;
    },

    list: async (licenseKey: string, limit: number, beforeId: string | null): Promise<SeatPage | null> => {
      const license = await findLicense(licenseKey);
      return license && applications.list(license, limit, beforeId, Date.now());
    },

    history: async (
      licenseKey: string,
      limit: number,
      beforeSeq: number | null,
    ): Promise<SeatChange[] | null> => {
      const license = await findLicense(licenseKey);
      return license && activations.history.list(license.id, limit, beforeSeq);
    },

    release: async (licenseKey: string, id: string, force: boolean): Promise<ReleaseResult | null> => {
      const license = await findLicense(licenseKey);
      const result = license && applications.release(license, id, force, Date.now());
      await commit();
      await branches.acknowledged();
      return result;
    },

    issueFile: async (request: FileRequest): Promise<FileVerdict | null> => {
      const license = await findLicense(request.licenseKey);
      const verdict = license && applications.holdForFile(license, request, Date.now());
      await commit();
      await branches.acknowledged();
      return verdict;
    },
  };
};
