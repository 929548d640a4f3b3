import type { Journal } from '../../shared/objects/journal.ts';
import { licenseState } from '../../shared/rules/licenses.ts';
import { tokenEndMs } from '../../shared/rules/tokens.ts';
import { newId } from '../../shared/text/ids.ts';
import { release, seatsOf, toVerdict } from '../rules/judge.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import {
  type FileRequest,
  type FileVerdict,
  type ImportedMachine,
  type ImportedMachineResult,
  isLive,
  isRecent,
  type ReleaseResult,
  type SeatChange,
  type SeatPage,
} from '../rules/seats.ts';
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
    machines,
    seatClock,
  }: Pick<HomeStore, 'machines' | 'seatClock'> & {
    copy: Pick<Copy, 'findLicense' | 'license'>;
  },
  seats: Pick<Seats, 'apply' | 'decide' | 'situationOf'>,
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

  /** A seat that an offline file holds is only released by force. */
  const releaseSeat = (
    license: CopiedLicense,
    id: string,
    isForced: boolean,
    nowMs: number,
  ): ReleaseResult => {
    const seatMs = seatClock.read(nowMs);
    const machine = machines.find(license.id, id, seatMs);
    if (!machine || (machine.seat.releasedAtMs !== null && !isLive(machine.seat, seatMs))) return 'not_found';
    if ((machine.seat.fileUntilMs ?? 0) > seatMs && !isForced) return 'held_by_file';
    seats.apply('seller', license, release(machine, seatMs, true), seatMs);
    return 'released';
  };

  /** Takes the seat that an offline file needs, and holds it until the file ends. */
  const holdForFile = (
    license: CopiedLicense,
    { licenseKey, fingerprint, days }: FileRequest,
    nowMs: number,
  ): FileVerdict => {
    const situation = seats.situationOf('activate', { license_key: licenseKey, fingerprint }, license, nowMs);
    const { terms, today, nowMs: seatMs } = situation;
    const state = licenseState(license, today);
    if (state !== 'active') return { refused: state };
    const offline_days = days ?? terms.offlineDays;
    if (offline_days === 0) return { refused: 'days_required' };
    const { code, machine } =
      terms.maxActivations === null
        ? ({ code: 'valid', machine: null } as const)
        : seats.decide('seller', situation);
    if (code !== 'valid') return { refused: code };
    const { activation, ...said } = toVerdict(situation, code, machine);
    // The file holds the seat, whatever the lease.
    const held = activation && { ...activation, lease_until: null };
    const verdict = { ...said, code, offline_days, activation: held };
    const fileUntilMs = tokenEndMs(verdict, seatMs);
    if (machine && fileUntilMs > (machine.seat.fileUntilMs ?? 0))
      machines.replace({ ...machine, seat: { ...machine.seat, fileUntilMs } });
    return { refused: null, verdict, issuedAtMs: nowMs };
  };

  /** Adds a machine of an import, unless the license knows it. It gets a seat only if one is free. */
  const addMachine = (imported: ImportedMachine, isDryRun: boolean, nowMs: number): ImportedMachineResult => {
    const { licenseKey, fingerprint, name, platform, appVersion, seat } = imported;
    const license = copy.license(licenseKey);
    if (!license) return 'license_not_found';
    const input = { license_key: licenseKey, fingerprint };
    const { terms, machine, count, nowMs: seatMs } = seats.situationOf('activate', input, license, nowMs);
    if (!isRecent(seat, seatMs)) return 'skipped';
    if (machine) return 'unchanged';
    const takes = isLive(seat, seatMs);
    if (takes && terms.maxActivations !== null && count().used >= terms.maxActivations) return 'no_seat';
    if (isDryRun) return 'created';
    const added = { id: null, licenseId: license.id, fingerprint, name, platform, appVersion, seat };
    if (takes)
      seats.apply(
        'seller',
        license,
        { kind: 'take', machine: added, wasRecent: false, action: null },
        seatMs,
      );
    else machines.replace({ ...added, id: newId('act') });
    return 'created';
  };

  return {
    exportMachines: machines.listAll,
    exportHistory: machines.history.listAll,

    list: async (licenseKey: string, limit: number, beforeId: string | null): Promise<SeatPage | null> => {
      const license = await findLicense(licenseKey);
      if (!license) return null;
      const situation = seats.situationOf('verify', { license_key: licenseKey }, license, Date.now());
      return {
        machines: machines.listLive(license.id, situation.nowMs, limit, beforeId),
        seats: seatsOf(situation),
      };
    },

    history: async (
      licenseKey: string,
      limit: number,
      beforeSeq: number | null,
    ): Promise<SeatChange[] | null> => {
      const license = await findLicense(licenseKey);
      return license && machines.history.list(license.id, limit, beforeSeq);
    },

    release: async (licenseKey: string, id: string, isForced: boolean): Promise<ReleaseResult | null> => {
      const license = await findLicense(licenseKey);
      return license && change((nowMs) => releaseSeat(license, id, isForced, nowMs));
    },

    issueFile: async (request: FileRequest): Promise<FileVerdict | null> => {
      const license = await findLicense(request.licenseKey);
      return license && change((nowMs) => holdForFile(license, request, nowMs));
    },

    importMachines: async (
      imported: ImportedMachine[],
      isDryRun: boolean,
    ): Promise<ImportedMachineResult[] | null> => {
      for (const { licenseKey } of imported) if (!(await ensureKnown(null, licenseKey))) return null;
      return change((nowMs) => imported.map((machine) => addMachine(machine, isDryRun, nowMs)));
    },
  };
};
