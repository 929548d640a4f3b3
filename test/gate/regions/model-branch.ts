import type { Update } from '../../../src/gate/rules/messages.ts';
import { type Branch, newBranchDisk, newBranchMemory, reportOf } from './model-branch-state.ts';
import { forwardEvents, type Message, type Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import { type Answer, type BranchDisk, type Call, LICENSES, type Row } from './model-types.ts';

const RENEWAL_RETRY_MS = 3_000;
const FORWARD_MS = 10_000;
/** Much shorter than in the service, so that branches close within a schedule. */
const CLOSE_AFTER_MS = 45_000;
const CALLS_ON_DISK = 100;

/** The object of a branch, driven by the shipped decisions. */
export const openBranch = (rules: Rules, periodAt: (nowMs: number) => number) => {
  const link = (branch: Branch) => `home-${branch.name}`;
  const isOpen = ({ disk }: Branch) => disk.state === 'open';

  const renew = (branch: Branch, turn: Turn) => {
    const { memory } = branch;
    memory.lastRenewalMs = turn.nowMs;
    const id = memory.sentMs.push(turn.nowMs) - 1;
    turn.send('home', { kind: 'renew', id, report: reportOf(branch) }, link(branch));
    memory.usedLately = 0;
  };

  const noteChange = ({ memory }: Branch, license: number, revision: number) => {
    for (const { changedAt } of memory.forwarded.values())
      changedAt[license] = Math.max(changedAt[license] ?? 0, revision);
  };

  const rowOf = ({ disk }: Branch, license: number): Row | undefined =>
    disk.rows.find((row) => row.license === license);

  const mayAnswer = (branch: Branch, nowMs: number) =>
    isOpen(branch) && rules.mayAnswer(branch.memory.lease, nowMs);

  /** The version that the branch shows without asking home, or null. */
  const shows = (branch: Branch, nowMs: number, license: number): number | null => {
    if (!mayAnswer(branch, nowMs)) return null;
    return rowOf(branch, license)?.version ?? (rules.answersNotFound ? 0 : null);
  };

  const usageAt = ({ disk, memory }: Branch, periodStartMs: number) =>
    (memory.others[periodStartMs] ?? 0) + (rules.escrowOf(disk.escrows, periodStartMs)?.spent ?? 0);

  const noteOthers = ({ memory }: Branch, periodStartMs: number, others: number) => {
    memory.others[periodStartMs] = Math.max(memory.others[periodStartMs] ?? 0, others);
  };

  const onCall = (branch: Branch, turn: Turn, call: Call, reply: (answer: Answer) => void) => {
    const { memory, disk } = branch;
    const { nowMs } = turn;
    memory.lastCallMs = nowMs;
    memory.usedLately += call.weight;
    const periodStartMs = periodAt(nowMs);
    const version = shows(branch, nowMs, call.license);
    const isCounted = disk.calls.includes(call.id);
    const escrow = rules.escrowOf(disk.escrows, periodStartMs);
    const isRepeat = rules.forwardsRepeats && memory.forwardedIds.has(call.id);
    const answersHere = !isRepeat && (isCounted || rules.unspent(escrow, periodStartMs) >= call.weight);
    if (version !== null && answersHere) {
      if (!isCounted && escrow) {
        const spent = { ...escrow, spent: escrow.spent + call.weight };
        turn.write({
          ...disk,
          escrows: disk.escrows.map((other) => (other === escrow ? spent : other)),
          calls: [...disk.calls.slice(-CALLS_ON_DISK), call.id],
          events: [...disk.events, `${branch.name}:${call.id}`],
        } satisfies BranchDisk);
        turn.count({ id: call.id, weight: call.weight, periodStartMs });
      }
      const usage = usageAt(branch, periodStartMs);
      return reply({ callId: call.id, isAdmitted: true, version, usage, others: 0, periodStartMs });
    }
    memory.forwardedIds.add(call.id);
    const changedAt = Array.from({ length: LICENSES }, () => disk.applied);
    memory.forwarded.set(call.id, { call, reply, changedAt, untilMs: nowMs + FORWARD_MS });
    const forwarded = { ...call, isCounted: isCounted && rules.tellsCounted };
    turn.send('home', { kind: 'forward', call: forwarded, report: reportOf(branch) }, link(branch));
    const canRenew = isOpen(branch) && nowMs >= memory.lastRenewalMs + RENEWAL_RETRY_MS;
    if (canRenew && rules.isRenewalDue(memory.lease, nowMs)) renew(branch, turn);
  };

  const onForwarded = (branch: Branch, turn: Turn, answer: Answer, row: Row) => {
    const { memory, disk } = branch;
    const forwarded = memory.forwarded.get(answer.callId);
    if (!forwarded) return;
    memory.forwarded.delete(answer.callId);
    const { periodStartMs } = answer;
    const known = rowOf(branch, row.license);
    const changedAt = Math.max(known?.asOf ?? 0, forwarded.changedAt[row.license] ?? 0);
    if (isOpen(branch) && row.version > 0 && rules.mayKeep(row.asOf, changedAt)) {
      noteChange(branch, row.license, row.asOf);
      turn.write({
        ...disk,
        rows: [...disk.rows.filter((other) => other !== known), row],
      } satisfies BranchDisk);
    }
    noteOthers(branch, periodStartMs, answer.others);
    forwarded.reply({ ...answer, usage: Math.max(answer.usage, usageAt(branch, periodStartMs)) });
  };

  const forget = (branch: Branch, turn: Turn, opening: number, state: BranchDisk['state']) => {
    const { memory, disk } = branch;
    memory.lease = null;
    memory.share = rules.NO_SHARE;
    memory.others = {};
    for (let license = 0; license < LICENSES; license++) noteChange(branch, license, Infinity);
    const { calls, events } = disk;
    turn.write({ ...newBranchDisk(), opening, state, calls, events } satisfies BranchDisk);
  };

  const stop = ({ disk, memory }: Branch, turn: Turn) => {
    if (!rules.stopsBeforeClosing) return;
    memory.lease = null;
    const escrows = disk.escrows.map(rules.giveBack);
    turn.write({ ...disk, state: 'closing', escrows } satisfies BranchDisk);
  };

  /** Merges what home says. Returns false if it is about an earlier opening. */
  const hear = (branch: Branch, turn: Turn, update: Update<Row>): boolean => {
    const isNew = update.opening > branch.disk.opening;
    if (isNew) forget(branch, turn, update.opening, 'open');
    if (update.opening < branch.disk.opening || branch.disk.state === 'closed') return false;
    const { memory, disk } = branch;
    memory.share = rules.receiveShare(memory.share, update.share);
    let { rows, applied, escrows } = disk;
    const { feed } = update;
    const step = rules.feedStep(applied, feed);
    if (feed && step !== 'ignore') {
      applied = feed.through;
      if (step === 'reset') rows = [];
      else
        rows = rows.map((row) => {
          const changed = feed.rows.find(({ license }) => license === row.license);
          return changed && changed.asOf >= row.asOf ? changed : row;
        });
      const licenses =
        step === 'reset'
          ? Array.from({ length: LICENSES }, (_, i) => i)
          : feed.rows.map(({ license }) => license);
      for (const license of licenses) noteChange(branch, license, feed.through);
    }
    for (const { periodStartMs, granted, others } of update.grants) {
      noteOthers(branch, periodStartMs, others);
      const before = rules.escrowOf(escrows, periodStartMs) ?? rules.newEscrow(periodStartMs);
      const after = rules.receiveGrant(before, granted);
      escrows = [...escrows.filter((escrow) => escrow.periodStartMs !== periodStartMs), after];
    }
    if (update.isRecall) escrows = escrows.map(rules.giveBack);
    const next = { ...disk, rows, applied, escrows } satisfies BranchDisk;
    // Most renewals change nothing.
    if (JSON.stringify(next) !== JSON.stringify(disk)) turn.write(next);
    if (update.isClosing) stop(branch, turn);
    return true;
  };

  const onRenewed = (
    branch: Branch,
    turn: Turn,
    body: { id: number; update: Update<Row>; leaseMs: number },
  ) => {
    const { memory } = branch;
    const sentMs = memory.sentMs[body.id];
    const isHeard = hear(branch, turn, body.update);
    if (branch.disk.state === 'closing') return close(branch, turn);
    if (!isHeard || sentMs === undefined || !isOpen(branch)) return;
    const through = body.update.feed?.through ?? 0;
    const answer = { sentMs: rules.leaseStart(sentMs, turn.nowMs), leaseMs: body.leaseMs, through };
    memory.lease = rules.renew(memory.lease, answer, branch.disk.applied);
  };

  const close = (branch: Branch, turn: Turn) => {
    stop(branch, turn);
    turn.send('home', { kind: 'close', report: reportOf(branch) }, link(branch));
  };

  return {
    shows,
    mayAnswer,

    start: (branch: Branch, turn: Turn) => {
      branch.memory = newBranchMemory(turn.nowMs);
    },

    receive: (branch: Branch, turn: Turn, message: Message) => {
      const { body } = message;
      switch (body.kind) {
        case 'verify':
          onCall(branch, turn, body.call, (answer) => turn.reply(message, { kind: 'verified', answer }));
          break;
        case 'forwarded':
          onForwarded(branch, turn, body.answer, body.row);
          break;
        case 'tell': {
          const wasOpen = isOpen(branch);
          if (!hear(branch, turn, body.update)) break;
          turn.reply(message, { kind: 'told', report: reportOf(branch) });
          if (branch.disk.state === 'closing') close(branch, turn);
          if (!wasOpen && isOpen(branch)) renew(branch, turn);
          break;
        }
        case 'renewed':
          onRenewed(branch, turn, body);
          break;
        case 'closed':
          if (body.opening === branch.disk.opening) forget(branch, turn, body.opening, 'closed');
          break;
        case 'accepted': {
          const events = branch.disk.events.filter((event) => !body.events.includes(event));
          turn.write({ ...branch.disk, events } satisfies BranchDisk);
          break;
        }
      }
    },

    /** What a branch's alarm does. */
    tick: (branch: Branch, turn: Turn) => {
      const { memory } = branch;
      const { nowMs } = turn;
      for (const [id, { untilMs }] of memory.forwarded) if (nowMs >= untilMs) memory.forwarded.delete(id);
      forwardEvents(branch, turn, rules.keepsEventsUntilAccepted);
      const { disk } = branch;
      if (disk.state === 'closed' || nowMs < memory.lastRenewalMs + RENEWAL_RETRY_MS) return;
      if (disk.state === 'closing' || rules.shouldClose(memory.lastCallMs, nowMs, CLOSE_AFTER_MS))
        close(branch, turn);
      else if (rules.isRenewalDue(memory.lease, nowMs)) renew(branch, turn);
    },
  };
};
