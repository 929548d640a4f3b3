import type { CountedCall } from './model-process.ts';
import { type Answer, type BranchName, type Call, LICENSES } from './model-types.ts';

/** A promise that the model has seen broken. */
export class Broken extends Error {}

interface AuditedCall extends Call {
  /** The versions that callers had been told about when the call began. */
  seen: number;
  /** The usage that its region had shown by then. */
  usage: Record<number, number>;
  isAdmitted: boolean;
  /** An answer was lost, or a request repeated: the call may be counted twice. */
  isAmbiguous: boolean;
  counted: number;
}

/** Knows everything that happens, and compares it with what the service promises. */
export const openAudit = (limit: number) => {
  const answeredVersions = Array.from({ length: LICENSES }, () => 0);
  const calls = new Map<string, AuditedCall>();
  const countedByPeriod = new Map<number, number>();
  const shownUsage: Record<BranchName, Record<number, number>> = { A: {}, B: {} };
  const stored = new Set<string>();
  const accepted = new Set<string>();

  /** The message is only built for a broken promise, because most of the model's time would go into messages. */
  const check = (isKept: boolean, message: () => string) => {
    if (!isKept) throw new Broken(message());
  };

  return {
    check,

    changeAnswered: (license: number, version: number) => {
      answeredVersions[license] = Math.max(answeredVersions[license] ?? 0, version);
    },

    began: (call: Call) => {
      calls.set(call.id, {
        ...call,
        seen: answeredVersions[call.license] ?? 0,
        usage: { ...shownUsage[call.region] },
        isAdmitted: false,
        isAmbiguous: false,
        counted: 0,
      });
    },

    isAmbiguous: (id: string) => {
      const call = calls.get(id);
      if (call) call.isAmbiguous = true;
    },

    /** The branch may have forgotten which calls it has forwarded. */
    branchRestarted: (name: BranchName) => {
      for (const call of calls.values()) if (call.region === name) call.isAmbiguous = true;
    },

    answered: (answer: Answer, isFromRegion: boolean) => {
      const call = calls.get(answer.callId);
      if (!call) return;
      const { version, usage, periodStartMs } = answer;
      check(version >= call.seen, () => `a verify shows version ${version} after ${call.seen} was answered`);
      if (answer.isAdmitted) check(call.counted > 0, () => 'a verify was answered before it was counted');
      call.isAdmitted = answer.isAdmitted;
      if (!isFromRegion) return;
      const before = call.usage[periodStartMs] ?? 0;
      check(usage >= before, () => `the usage goes back from ${before} to ${usage}`);
      const shown = shownUsage[call.region];
      shown[periodStartMs] = Math.max(shown[periodStartMs] ?? 0, usage);
    },

    wasAdmitted: (id: string) => calls.get(id)?.isAdmitted === true,

    counted: ({ id, weight, periodStartMs }: CountedCall) => {
      const total = (countedByPeriod.get(periodStartMs) ?? 0) + weight;
      countedByPeriod.set(periodStartMs, total);
      check(total <= limit, () => `${total} calls were counted, the limit is ${limit}`);
      const call = calls.get(id);
      if (!call) return;
      call.counted++;
      check(call.counted === 1 || call.isAmbiguous, () => 'a call was counted twice');
    },

    /** How many calls were counted, at home and in branches. */
    countedBy: () => ({
      home: [...stored].filter((event) => event.startsWith('home')).length,
      all: stored.size,
    }),

    countedIn: (periodStartMs: number) => countedByPeriod.get(periodStartMs) ?? 0,

    /** What a branch would show at this moment, or null if it would ask home. */
    checkShown: (license: number, version: number | null) => {
      const answered = answeredVersions[license] ?? 0;
      check(
        version === null || version >= answered,
        () => `a branch shows ${version} after ${answered} was answered`,
      );
    },

    eventStored: (event: string) => stored.add(event),
    eventAccepted: (event: string) => accepted.add(event),

    checkEnd: (counted: Record<number, number>, eventsLeft: number) => {
      for (const [period, total] of countedByPeriod)
        check(
          counted[period] === total,
          () => `home says that ${counted[period]} were counted, not ${total}`,
        );
      check(eventsLeft === 0, () => `${eventsLeft} events are left`);
      for (const event of stored) check(accepted.has(event), () => `the event ${event} is lost`);
    },
  };
};

export type Audit = ReturnType<typeof openAudit>;
