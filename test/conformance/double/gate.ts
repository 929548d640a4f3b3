import { GATE_TABLES, openHomeStore } from '../../../src/gate/home/store.ts';
import { openSeats } from '../../../src/gate/home/seats.ts';
import { openHomeUsage } from '../../../src/gate/home/usage.ts';
import { openAnswerCall } from '../../../src/gate/object/answer-call.ts';
import type { Call, Reply } from '../../../src/gate/rules/calls.ts';
import type { CopiedLicense, Rows, StoredAccount } from '../../../src/gate/rules/rows.ts';
import {
  type FileRequest,
  fileVerdict,
  judgeFile,
  judgeRelease,
  type FileVerdict,
} from '../../../src/gate/rules/seller.ts';
import { randomBase62 } from '../../../src/shared/crypto/random.ts';
import type { ObjectContext } from '../../../src/shared/objects/context.ts';
import { openDisk } from '../../simulation/machine/disk.ts';
import { openStorage } from '../../simulation/machine/storage.ts';
import { openTime } from '../../simulation/machine/time.ts';
import { ACCOUNT } from '../world.ts';

const ROW_OF_ACCOUNT: StoredAccount = {
  email: 'seller@example.com',
  homeRegion: null,
  isUnverified: false,
  suspendedAt: null,
  eraseAt: null,
  plan: 'free',
  periodStart: null,
  periodEnd: null,
  planUntil: null,
  grantedPlan: null,
  grantedUntil: null,
};
/** Where plans are sold, `free` has a usage limit that a test can reach. */
const ENV = { PAYMENTS: 'sandbox' };
const MAX_CALLS = 100_000;
const NO_RATE = { quota: 20, windowSeconds: 2, remaining: 19, resetSeconds: 1 };

/** A storage of the same kind as a Durable Object's, in memory. */
const openMemory = () => {
  const time = openTime(0, () => {});
  const disk = openDisk({ time, commitMs: () => 0, onConfirmed: () => {} });
  const storage = openStorage(disk, () => false, () => {});
  for (const script of [GATE_TABLES.base, ...GATE_TABLES.steps]) storage.sql.exec(script);
  return storage;
};

/** The shipped gate's books and judgment, without the object around them: the double decides nothing itself. */
export const openGate = () => {
  const storage = openMemory();
  const journal = { write: storage.transactionSync, add: () => {} };
  const object = { ctx: { storage }, env: ENV, accountId: ACCOUNT, journal } as unknown as ObjectContext;
  const store = openHomeStore(object);
  const { copy, ledger, machines, seatClock } = store;
  const usage = openHomeUsage(store);
  const seats = openSeats({ journal }, store, { log: () => {} });
  const answerCall = openAnswerCall(copy, ledger, usage, { addVerified: () => {} });

  const apply = (rows: Partial<Rows>) => {
    const nothing = { keys: [], licenses: [], products: [], erasedKeys: [], deletedLicenses: [] };
    const { appliedSeq } = copy.progress();
    journal.write(() => copy.apply({ ...nothing, ...rows }, { appliedSeq: appliedSeq + 1, appliedAt: 0 }));
  };
  apply({ account: ROW_OF_ACCOUNT });

  return {
    apply,
    find: copy.findLicense,
    usageAt: usage.at,

    /** Counts calls of other customers. */
    count: (calls: number, nowMs: number) => {
      if (calls > MAX_CALLS) throw new Error(`${calls} calls are too many.`);
      const { startMs } = usage.at(nowMs).period;
      for (let call = 0; call < calls; call += 1) ledger.count('verify', startMs, nowMs);
    },

    call: (asked: Pick<Call, 'name' | 'input' | 'isPlain'>, nowMs: number): Reply => {
      const presented = { accountId: ACCOUNT, keyId: 'key_1', ip: null } as unknown as Call['presented'];
      const call: Call = { ...asked, presented, callId: randomBase62(12), canSign: true };
      const seatsOfCall = {
        verdictOn: (license: CopiedLicense | null) => seats.verdictOn(call, license, nowMs),
        isCustomer: (license: CopiedLicense | null) => seats.isCustomer(call, license, nowMs),
      };
      return answerCall(call, NO_RATE, seatsOfCall, nowMs);
    },

    seatsUsed: ({ id }: CopiedLicense, nowMs: number): number => machines.count(id, seatClock.read(nowMs)).used,

    issueFile: (license: CopiedLicense, { fingerprint, days }: FileRequest, nowMs: number): FileVerdict => {
      const input = { license_key: license.licenseKey, fingerprint };
      const situation = seats.situationOf('activate', input, license, nowMs);
      const judgment = judgeFile(situation, days);
      if (judgment.code !== 'valid') return { refused: judgment.code };
      const machine = journal.write(() => seats.carryOut('seller', situation, judgment));
      return { refused: null, verdict: fileVerdict(situation, days, machine), issuedAtMs: nowMs };
    },

    release: (license: CopiedLicense, fingerprint: string, nowMs: number): void => {
      const seatMs = seatClock.read(nowMs);
      const { changes } = judgeRelease(machines.read(license.id, fingerprint, seatMs), true, seatMs);
      journal.write(() => seats.apply('seller', license, changes, seatMs));
    },
  };
};

export type Gate = ReturnType<typeof openGate>;
