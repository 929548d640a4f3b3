import { openBranches } from './model-home-branches.ts';
import {
  type Home,
  type HomeSettings,
  knownBranch,
  newKnownBranch,
  openedBranches,
  quotaAt,
  tell,
  updateFor,
} from './model-home-state.ts';
import { forwardEvents, type Message, type Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import { type Answer, type BranchName, BRANCHES, type Call, type HomeDisk } from './model-types.ts';

/** Home keeps so few changes that a branch often has to drop its copy. */
const LOG_LENGTH = 3;
const RECALL_MS = 2_000;
const TELL_INTERVAL_MS = 1_000;
const CALLS_ON_DISK = 100;

/** The object at home, driven by the shipped decisions. */
export const openHome = (rules: Rules, settings: HomeSettings) => {
  const { limit, callsPerSecond, periodAt, versions, settingsOf } = settings;
  const { openBranch, hear, offerShares, renewBranch, onClose } = openBranches(rules, settings);

  const answerOf = (home: Home, call: Call, periodStartMs: number, isAdmitted: boolean): Answer => {
    const { disk } = home;
    const quota = quotaAt(rules, home, limit, periodStartMs);
    const escrow = quota.escrows[openedBranches(disk).indexOf(call.region)];
    return {
      callId: call.id,
      isAdmitted,
      version: disk.versions[call.license] ?? 0,
      usage: rules.usedByOthers(quota, undefined),
      others: rules.usedByOthers(quota, escrow),
      periodStartMs,
    };
  };

  /** Counts and answers a call, or returns false if the limit is reached as far as home knows. */
  const admit = (home: Home, turn: Turn, call: Call, reply: (answer: Answer) => void): boolean => {
    const periodStartMs = periodAt(turn.nowMs);
    const { disk } = home;
    if (!call.isCounted && !disk.calls.includes(call.id)) {
      const quota = quotaAt(rules, home, limit, periodStartMs);
      if (rules.remaining(quota) < call.weight) return false;
      turn.write({
        ...disk,
        counted: { ...disk.counted, [periodStartMs]: quota.counted + call.weight },
        calls: [...disk.calls.slice(-CALLS_ON_DISK), call.id],
        events: [...disk.events, `home:${call.id}`],
      } satisfies HomeDisk);
      turn.count({ id: call.id, weight: call.weight, periodStartMs });
    }
    reply(answerOf(home, call, periodStartMs, true));
    return true;
  };

  /** Answers what has waited for branches: changes, and calls that waited for grants to be given back. */
  const answerWaiting = (home: Home, turn: Turn) => {
    const { memory } = home;
    if (memory.changes.length === 0 && memory.parked.length === 0) return;
    memory.changes = memory.changes.filter(({ barrier, reply }) => {
      const leased = Object.values(memory.known);
      if (rules.whoMustAck(leased, barrier, turn.nowMs).length > 0) return true;
      reply();
      return false;
    });
    memory.parked = memory.parked.filter(({ call, reply, waitsFor, untilMs }) => {
      if (admit(home, turn, call, reply)) return false;
      if (waitsFor.size > 0 && turn.nowMs < untilMs) return true;
      reply(answerOf(home, call, periodAt(turn.nowMs), false));
      return false;
    });
  };

  const onCall = (home: Home, turn: Turn, call: Call, reply: (answer: Answer) => void) => {
    openBranch(home, turn, call.region);
    if (admit(home, turn, call, reply)) return;
    const periodStartMs = periodAt(turn.nowMs);
    const holders = openedBranches(home.disk).filter((name) => {
      const escrow = rules.escrowOf(home.disk.branches[name]?.escrows ?? [], periodStartMs);
      return escrow && rules.isRecallable(escrow);
    });
    if (holders.length === 0) return reply(answerOf(home, call, periodStartMs, false));
    for (const name of holders) tell(rules, home, turn, name, true);
    home.memory.parked.push({ call, reply, waitsFor: new Set(holders), untilMs: turn.nowMs + RECALL_MS });
  };

  /** Copies what has changed in D1. A change also waits for the branches if another request has copied it. */
  const onChange = (home: Home, turn: Turn, reply: () => void) => {
    const { disk, memory } = home;
    let { revision, log } = disk;
    let isChanged = false;
    for (const [license, version] of versions().entries()) {
      const before = disk.versions[license] ?? 0;
      if (version === before) continue;
      isChanged = true;
      if (!rules.needsAck({ kind: 'license', ref: 'L', isNew: before === 0 })) continue;
      revision++;
      log = [...log, { revision, license }].slice(-LOG_LENGTH);
      memory.barrier = revision;
    }
    if (isChanged) {
      turn.write({ ...disk, revision, log, versions: [...versions()] } satisfies HomeDisk);
      for (const name of openedBranches(disk)) tell(rules, home, turn, name, false);
    }
    memory.changes.push({ barrier: memory.barrier, reply });
  };

  const receive = (home: Home, turn: Turn, message: Message) => {
    const { body, from } = message;
    const name = from as BranchName;
    const answer = (reply: Answer) => turn.reply(message, { kind: 'verified', answer: reply });
    switch (body.kind) {
      case 'verify':
        onCall(home, turn, body.call, answer);
        break;
      case 'forward': {
        const { license } = body.call;
        hear(home, turn, name, body.report);
        onCall(home, turn, body.call, (reply) => {
          const row = { license, version: reply.version, asOf: home.disk.revision };
          // To a branch that home has closed, its own calls would be those of others.
          const isOpening = home.disk.branches[name]?.opening === body.report.opening;
          const answer = isOpening ? reply : { ...reply, others: 0 };
          turn.reply(message, { kind: 'forwarded', answer, row });
        });
        break;
      }
      case 'renew':
        if (hear(home, turn, name, body.report)) {
          const { isOn, leaseMs } = home.memory.settings;
          if (!isOn && !rules.closesAfterLastReport) {
            onClose(home, turn, name, body.report);
            turn.reply(message, { kind: 'closed', opening: body.report.opening });
            break;
          }
          if (isOn) renewBranch(home, turn, name, body.report);
          const update = updateFor(rules, home, name, {
            after: body.report.applied,
            isRecall: false,
          });
          turn.reply(message, { kind: 'renewed', id: body.id, update, leaseMs: isOn ? leaseMs : 0 });
        } else turn.reply(message, { kind: 'closed', opening: body.report.opening });
        break;
      case 'told':
        hear(home, turn, name, body.report);
        break;
      case 'close':
        onClose(home, turn, name, body.report);
        turn.reply(message, { kind: 'closed', opening: body.report.opening });
        break;
      case 'change':
        onChange(home, turn, () => turn.reply(message, { kind: 'changed', id: body.id }));
        break;
      case 'accepted':
        turn.write({
          ...home.disk,
          events: home.disk.events.filter((event) => !body.events.includes(event)),
        } satisfies HomeDisk);
        break;
    }
    answerWaiting(home, turn);
  };

  return {
    start: (home: Home, turn: Turn) => {
      const { disk } = home;
      const known = Object.fromEntries(
        openedBranches(disk).map((name) => [
          name,
          newKnownBranch(
            rules.leasedUntilAtStart(turn.nowMs, disk.branches[name]?.leaseMs ?? 0),
            rules.shareAtStart(disk.branches[name]?.share ?? rules.newShare()),
            disk.branches[name]?.applied,
          ),
        ]),
      );
      const barrier = rules.barrierAtStart(disk.revision);
      home.memory = {
        settings: settingsOf(disk.starts),
        barrier,
        known,
        changes: [],
        parked: [],
        calls: { A: 0, B: 0 },
      };
      turn.write({ ...disk, starts: disk.starts + 1 } satisfies HomeDisk);
    },

    receive,

    /** What home's alarm does. */
    tick: (home: Home, turn: Turn) => {
      const ended = Object.values(home.memory.known).filter(
        ({ leasedUntilMs, isLapsed }) => turn.nowMs >= leasedUntilMs && !isLapsed,
      );
      for (const known of ended)
        Object.assign(known, { isLapsed: true, usedLately: 0, share: rules.endShare(known.share) });
      offerShares(home, turn, ended.length > 0);
      for (const name of openedBranches(home.disk)) {
        const { applied, reported, toldMs, share } = knownBranch(home, name);
        const isDue = turn.nowMs >= toldMs + TELL_INTERVAL_MS;
        const isBehind = reported === null || applied < home.disk.revision;
        const hasOffer = (share.offered?.number ?? 0) > (share.confirmed?.number ?? 0);
        if (isDue && (isBehind || hasOffer || !home.memory.settings.isOn))
          tell(rules, home, turn, name, false);
      }
      forwardEvents(home, turn, rules.keepsEventsUntilAccepted);
      answerWaiting(home, turn);
    },

    /** The part of the rate limit that home allows itself. */
    shareOf: (home: Home) =>
      rules.homeShare(
        callsPerSecond,
        Object.values(home.memory.known).map(({ share }) => share),
      ),

    /** What home has counted or given away in a period, which must never pass the limit. */
    committedOf: ({ counted, branches }: HomeDisk, periodStartMs: number) => {
      let sum = counted[periodStartMs] ?? 0;
      for (const name of BRANCHES) {
        const escrow = rules.escrowOf(branches[name]?.escrows ?? [], periodStartMs);
        if (escrow) sum += rules.exposure(escrow);
      }
      return sum;
    },
  };
};
