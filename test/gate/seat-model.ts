import { expect } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import type { Terms } from '../../src/shared/rules/terms.ts';
import type { CallName } from '../../src/shared/rules/verdict.ts';

// A plain model of one license's seats: it recounts everything at every step, and stores nothing twice.

interface Machine {
  /** Null until the gate has given it an id. */
  id: string | null;
  leaseUntilMs: number | null;
  /** How long the lease is that the last call asked for, until the gate's lease was compared with it. */
  renewedMs: number | null | undefined;
  fileUntilMs: number;
  releasedMs: number | null;
  countedMs: number;
}

interface Request {
  leaseSeconds?: number | undefined;
  replaced?: number | null;
}

const TRANSFER_MS = 30 * DAY_MS;

const endOf = ({ fileUntilMs, releasedMs, leaseUntilMs }: Machine) =>
  Math.max(fileUntilMs, releasedMs ?? leaseUntilMs ?? Infinity);

export const openSeatModel = (firstTerms: Terms) => {
  const machines = new Map<number, Machine>();
  const ids = new Set<string>();
  const events: { name: string; machine: Machine; id: string | null }[] = [];
  let nowMs = 0;

  const isLive = (machine: Machine) => endOf(machine) > nowMs;
  const known = (n: number): Machine | null => {
    const machine = machines.get(n);
    return machine && endOf(machine) > nowMs - TRANSFER_MS ? machine : null;
  };
  const countLive = () => [...machines.values()].filter(isLive).length;
  const countRecent = () => [...machines.keys()].filter((n) => known(n)).length;

  const addEvent = (name: 'created' | 'released', machine: Machine) =>
    events.push({ name: `activation.${name}`, machine, id: machine.id });

  const free = (machine: Machine) => {
    machine.releasedMs = Math.min(nowMs, endOf(machine));
    addEvent('released', machine);
  };

  const model = {
    terms: firstTerms,
    isSuspended: false,

    get nowMs() {
      return nowMs;
    },

    see: (wallMs: number) => {
      nowMs = Math.max(nowMs, wallMs);
    },

    idOf: (n: number) => known(n)?.id ?? null,

    holders: () => [...machines].filter(([, machine]) => isLive(machine)).map(([n]) => n),

    events: () => events.map(({ name, machine, id }) => `${name} ${id ?? machine.id}`),

    /** Compares the gate's activation with the model's. The gate may move a lease in steps of a tenth. */
    adopt: (n: number, id: string, leaseUntilMs: number | null): void => {
      const machine = machines.get(n);
      if (!machine) throw new Error(`Machine ${n} holds a seat.`);
      if (machine.id === null) {
        expect(ids.has(id)).toBe(false);
        ids.add(id);
        machine.id = id;
      }
      expect(id).toBe(machine.id);
      const { renewedMs, leaseUntilMs: beforeMs } = machine;
      machine.renewedMs = undefined;
      if (renewedMs === undefined) return expect(leaseUntilMs).toBe(beforeMs);
      machine.leaseUntilMs = leaseUntilMs;
      if (renewedMs === null || leaseUntilMs === null) return expect(leaseUntilMs).toBe(renewedMs);
      expect([beforeMs, nowMs + renewedMs]).toContain(leaseUntilMs);
      expect(leaseUntilMs).toBeGreaterThanOrEqual(beforeMs ?? 0);
      expect(leaseUntilMs).toBeGreaterThan(nowMs + renewedMs * 0.9);
    },

    /** Returns whether a heartbeat may ask for a verify, and how to make the call and get its code. */
    call: (
      call: CallName,
      n: number | null,
      request: Request,
    ): { isAlmostDue: boolean; apply: () => string } => {
      const machine = n === null ? null : known(n);
      const sinceMs = machine ? nowMs - machine.countedMs : 0;
      const isAlmostDue = call === 'heartbeat' && !model.isSuspended && sinceMs > 23 * HOUR_MS;
      return { isAlmostDue, apply: () => model.answer(call, n, request) };
    },

    answer: (call: CallName, n: number | null, { leaseSeconds, replaced = null }: Request): string => {
      const { maxActivations, maxTransfers, selfService, leaseSeconds: lease, offlineDays } = model.terms;
      const limit = maxActivations ?? Infinity;
      if (model.isSuspended && call !== 'deactivate') return 'suspended';
      if (n === null) {
        if (maxActivations !== null) return 'fingerprint_required';
        if (call === 'heartbeat') return 'verify_due';
        return call === 'deactivate' ? 'deactivated' : 'valid';
      }
      const machine = known(n);
      if (call === 'deactivate') {
        if (machine?.releasedMs === null) free(machine);
        return 'deactivated';
      }
      if (call === 'heartbeat' && (machine ? nowMs - machine.countedMs > DAY_MS : maxActivations === null))
        return 'verify_due';

      const longestMs = Math.max((lease ?? 0) * 1_000, offlineDays * DAY_MS);
      const renewedMs = lease === null ? null : Math.min((leaseSeconds ?? lease) * 1_000, longestMs);
      const countedMs = call === 'heartbeat' ? machine?.countedMs : nowMs;
      const hasLeft = machine !== null && machine.releasedMs !== null;
      if (machine && isLive(machine) && (!hasLeft || call === 'activate')) {
        if (hasLeft) addEvent('created', machine);
        Object.assign(machine, { renewedMs, countedMs, releasedMs: null });
        return 'valid';
      }
      const hasLapsed = machine !== null && !hasLeft;
      if (call === 'heartbeat' || (call === 'verify' && !hasLapsed)) {
        if (maxActivations === null) return 'valid';
        return hasLapsed && countLive() >= limit ? 'no_seat' : 'not_activated';
      }
      const other = call === 'activate' && selfService && replaced !== null ? known(replaced) : null;
      const isReplaced = other?.releasedMs === null && isLive(other) && other.fileUntilMs <= nowMs;
      if (countLive() - (isReplaced ? 1 : 0) >= limit) return 'no_seat';
      if (!machine && maxTransfers !== null && countRecent() >= limit + maxTransfers) return 'transfer_limit';
      if (isReplaced) free(other);
      const taken: Machine = {
        id: hasLapsed ? machine.id : null,
        leaseUntilMs: null,
        renewedMs,
        fileUntilMs: machine?.fileUntilMs ?? 0,
        releasedMs: null,
        countedMs: nowMs,
      };
      machines.set(n, taken);
      if (!hasLapsed) addEvent('created', taken);
      expect(countLive()).toBeLessThanOrEqual(limit);
      return 'valid';
    },

    holdForFile: (n: number | null, days: number): string => {
      if (!model.isSuspended && model.terms.maxActivations === null) return 'valid';
      const code = model.answer('activate', n, {});
      const machine = n === null ? null : machines.get(n);
      if (code === 'valid' && machine)
        machine.fileUntilMs = Math.max(machine.fileUntilMs, nowMs + days * DAY_MS);
      return code;
    },

    release: (n: number, force: boolean): string => {
      const machine = known(n);
      if (!machine || (machine.releasedMs !== null && !isLive(machine))) return 'not_found';
      if (machine.fileUntilMs > nowMs && !force) return 'held_by_file';
      free(machine);
      machine.fileUntilMs = 0;
      return 'released';
    },
  };
  return model;
};
