import type { Journal } from '../../shared/objects/journal.ts';
import { NO_TERMS } from '../../shared/rules/terms.ts';
import { seatsOf } from '../rules/judge.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import type { FoundLicenses, LicenseSearch, SeatChange, SeatPage, SellingActor } from '../rules/seats.ts';
import {
  type FileRequest,
  type FileVerdict,
  fileVerdict,
  type ImportedMachine,
  type ImportedMachineResult,
  judgeFile,
  judgeImport,
  judgeRelease,
  type ReleaseResult,
} from '../rules/seller.ts';
import { refuseForToday } from '../rules/usage.ts';
import type { HomeBranches } from './branches.ts';
import type { CatchUp } from './catch-up.ts';
import type { Copy } from './copy.ts';
import type { Seats } from './seats.ts';
import type { HomeStore } from './store.ts';

/** What a seller does with a license's seats. Each call answers null if the license isn't known and D1 can't be reached. */
export const openSeller = (
  { journal }: { journal: Pick<Journal, 'write' | 'commit'> },
  {
    copy,
    announced,
    machines,
    seatClock,
  }: Pick<HomeStore, 'machines' | 'seatClock'> & {
    copy: Pick<Copy, 'account' | 'findLicense' | 'license' | 'termsOf'>;
    announced: Pick<HomeStore['announced'], 'changesToday' | 'countChanges'>;
  },
  seats: Pick<Seats, 'apply' | 'carryOut' | 'hasRoomFor' | 'situationOf' | 'trim'>,
  branches: Pick<HomeBranches, 'acknowledged'>,
  { ensureKnown }: Pick<CatchUp, 'ensureKnown'>,
) => {
  const findLicense = async (licenseKey: string) =>
    (await ensureKnown(null, licenseKey)) ? copy.findLicense(licenseKey) : null;

  /** Changes seats, all or nothing. Returns once no branch answers from before. */
  const change = async <T>(run: (nowMs: number) => T): Promise<T> => {
    const result = journal.write(() => run(Date.now()));
    await journal.commit();
    await branches.acknowledged();
    return result;
  };

  const releaseSeat = (
    license: CopiedLicense,
    id: string,
    { isForced, isDryRun, actor }: { isForced: boolean; isDryRun: boolean; actor: SellingActor },
    nowMs: number,
  ): ReleaseResult => {
    const seatMs = seatClock.read(nowMs);
    const { code, changes } = judgeRelease(machines.find(license.id, id, seatMs), isForced, seatMs);
    if (!isDryRun) seats.apply(actor, license, changes, seatMs);
    return code;
  };

  const issueFile = (
    license: CopiedLicense,
    { licenseKey, fingerprint, days, firstMs = Infinity }: FileRequest,
    isDryRun: boolean,
    actor: SellingActor,
    nowMs: number,
  ): FileVerdict => {
    const situation = seats.situationOf('activate', { license_key: licenseKey, fingerprint }, license, nowMs);
    const judgment = judgeFile(situation, days, Math.min(firstMs, situation.nowMs));
    if (!seats.hasRoomFor(situation, judgment)) return { refused: 'storage_limit_reached' };
    // No call follows a dry run that is refused, so the dry run notes the refusal.
    const isCarriedOut = !isDryRun || judgment.code !== 'valid';
    const machine = isCarriedOut ? seats.carryOut(actor, situation, judgment) : null;
    if (judgment.code !== 'valid') return { refused: judgment.code };
    return {
      refused: null,
      verdict: fileVerdict(situation, days, machine),
      issuedAtMs: Math.min(firstMs, nowMs),
    };
  };

  const addMachine = (imported: ImportedMachine, isDryRun: boolean, nowMs: number): ImportedMachineResult => {
    const { licenseKey, fingerprint } = imported;
    const license = copy.license(licenseKey);
    const situation = seats.situationOf('activate', { license_key: licenseKey, fingerprint }, license, nowMs);
    const judgment = judgeImport(imported, situation);
    const { code, changes } = judgment;
    if (!license || changes.length === 0) return code;
    if (!seats.hasRoomFor(situation, judgment)) return 'storage_limit_reached';
    if (isDryRun) return code;
    const account = copy.account();
    const size = { changes: changes.length, isRefusable: true };
    if (account && refuseForToday(account, size, announced.changesToday(nowMs), nowMs))
      return 'too_many_changes';
    announced.countChanges(size.changes, nowMs);
    seats.apply('seller', license, changes, situation.nowMs);
    return code;
  };

  const trimAll = (licenseKeys: Set<string>, nowMs: number) => {
    for (const licenseKey of licenseKeys) {
      const license = copy.license(licenseKey);
      if (license) seats.trim(license, copy.termsOf(license) ?? NO_TERMS, seatClock.read(nowMs));
    }
  };

  return {
    exportMachines: machines.listAll,
    exportHistory: machines.history.listAll,

    /** What a verify that begins now would say of the seats. */
    findLicenses: (search: LicenseSearch): FoundLicenses =>
      machines.findLicenses(search, seatClock.read(Date.now())),

    list: async (licenseKey: string, limit: number, beforeId: string | null): Promise<SeatPage | null> => {
      const license = await findLicense(licenseKey);
      if (!license) return null;
      const situation = seats.situationOf('verify', { license_key: licenseKey }, license, Date.now());
      const page = machines.listLive(license.id, situation.nowMs, limit, beforeId);
      return { ...page, seats: seatsOf(situation) };
    },

    history: async (
      licenseKey: string,
      limit: number,
      beforeSeq: number | null,
    ): Promise<SeatChange[] | null> => {
      const license = await findLicense(licenseKey);
      return license && machines.history.list(license.id, limit, beforeSeq);
    },

    release: async (
      licenseKey: string,
      id: string,
      isForced: boolean,
      isDryRun = false,
      actor: SellingActor = 'seller',
    ): Promise<ReleaseResult | null> => {
      const license = await findLicense(licenseKey);
      return license && change((nowMs) => releaseSeat(license, id, { isForced, isDryRun, actor }, nowMs));
    },

    issueFile: async (
      request: FileRequest,
      isDryRun = false,
      actor: SellingActor = 'seller',
    ): Promise<FileVerdict | null> => {
      const license = await findLicense(request.licenseKey);
      return license && change((nowMs) => issueFile(license, request, isDryRun, actor, nowMs));
    },

    importMachines: async (
      imported: ImportedMachine[],
      isDryRun: boolean,
    ): Promise<ImportedMachineResult[] | null> => {
      for (const { licenseKey } of imported) if (!(await ensureKnown(null, licenseKey))) return null;
      return change((nowMs) => {
        const results = imported.map((machine) => addMachine(machine, isDryRun, nowMs));
        if (!isDryRun) trimAll(new Set(imported.map(({ licenseKey }) => licenseKey)), nowMs);
        return results;
      });
    },
  };
};
