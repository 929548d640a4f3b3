import {
  decideSeat,
  type SeatCall,
  type SeatCounts,
  type SeatDecision,
  type SeatTerms,
  type Activation,
  type Machine,
} from './seats.ts';
import type { ApplicationRequest } from './calls.ts';

// Decides what a call changes about its machine's activation. Home writes the plan, and a branch only answers a call that
// changes nothing.

export interface SeatPlan {
  decision: SeatDecision;
  /** The machine as the call describes it. */
  machine: Machine;
  /** Whether the description of a machine that keeps its seat has changed. */
  isOtherMachine: boolean;
}

const isSameMachine = (machine: Machine, known: Machine) =>
  machine.name === known.name &&
  machine.platform === known.platform &&
  machine.appVersion === known.appVersion;

interface Planned {
  call: SeatCall;
  terms: SeatTerms;
  request: ApplicationRequest;
  /** The machine's activation. */
  known: Activation | null;
  count: () => SeatCounts;
  /** Whether the request replaces a live seat of another machine. */
  replaces: boolean;
}

/** `nowMs` must never step back, see `openSeatClock`. */
export const planSeat = (
  { call, terms, request, known, count, replaces }: Planned,
  nowMs: number,
): SeatPlan => {
  const { fingerprint = '', leaseSeconds } = request;
  const decision = decideSeat(
    {
      call,
      terms,
      hasFingerprint: fingerprint !== '',
      seat: known?.seat ?? null,
      count,
      replaces,
      leaseSeconds,
    },
    nowMs,
  );
  const machine: Machine = {
    name: request.name ?? known?.name ?? null,
    platform: request.platform ?? known?.platform ?? null,
    appVersion: request.appVersion ?? known?.appVersion ?? null,
  };
  const isOtherMachine = known !== null && decision.code === 'valid' && !isSameMachine(machine, known);
  return { decision, machine, isOtherMachine };
};
