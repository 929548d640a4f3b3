import type { ActivationEventName } from '../../shared/rules/events.ts';
import { licenseEvent } from '../../shared/text/events.ts';
import { HOUR_MS } from '../../shared/rules/dates.ts';
import { newId } from '../../shared/text/ids.ts';
import type { Terms } from '../../shared/rules/terms.ts';
import type { Activations } from './activations.ts';
import type { Outgoing } from '../object/outgoing.ts';
import type { SeatClock } from '../object/seat-clock.ts';
import type { SeatActor, SeatChange } from './seat-history.ts';
import { planSeat } from '../rules/seat-plan.ts';
import {
  isHeld,
  isLive,
  isRecent,
  liveUntilMs,
  type SeatCall,
  type SeatCode,
  type Activation,
} from '../rules/seats.ts';
import type { ImportedSeat, ImportedSeatResult } from '../rules/seller-types.ts';
import type { ApplicationRequest } from '../rules/calls.ts';
import type { CopiedLicense } from '../rules/rows.ts';

// Writes what a call changes about its machine's seat, with the event. Run each function in one transaction.

const REFUSED_EVENT_INTERVAL_MS = HOUR_MS;

const isReplaceable = ({ seat }: Activation, nowMs: number) =>
  isHeld(seat, nowMs) && (seat.fileUntilMs ?? 0) <= nowMs;

interface Parts {
  activations: Activations;
  outgoing: Outgoing;
  clock: SeatClock;
  /** Tells branches that a machine has taken or released a seat. */
  logSeat: (license: CopiedLicense, fingerprint: string, isTaken: boolean) => void;
}

export const openSeatCalls = ({ activations, outgoing, clock, logSeat }: Parts) => {
  /** While the license's seats have leases, branches have no copies of them. */
  const logMove = (
    license: CopiedLicense,
    { leaseSeconds }: Terms,
    fingerprint: string,
    isTaken: boolean,
  ) => {
    if (leaseSeconds === null) logSeat(license, fingerprint, isTaken);
  };

  const addEvent = (
    name: ActivationEventName,
    license: CopiedLicense,
    activation: { id: string | null; fingerprint: string; name: string | null },
    nowMs: number,
  ) => {
    const { id, fingerprint, name: machine } = activation;
    outgoing.insert([licenseEvent(name, nowMs, license, { activation_id: id, fingerprint, name: machine })]);
  };

  /** Adds a change to the license's history, with its event. */
  const addChange = (
    action: SeatChange['action'],
    actor: SeatActor,
    license: CopiedLicense,
    activation: Activation,
    nowMs: number,
  ) => {
    const { id: activationId, fingerprint, name } = activation;
    activations.history.add(license.id, { atMs: nowMs, action, actor, activationId, fingerprint, name });
    const event = action === 'taken' ? 'activation.created' : 'activation.released';
    addEvent(event, license, activation, nowMs);
  };

  /** A seat whose lease has ended was free from then on. By force, an offline file doesn't hold the seat any longer. */
  const release = (
    actor: SeatActor,
    license: CopiedLicense,
    terms: Terms,
    activation: Activation,
    nowMs: number,
    isForced = false,
  ) => {
    const releasedAtMs = Math.min(nowMs, liveUntilMs(activation.seat));
    const fileUntilMs = isForced ? null : activation.seat.fileUntilMs;
    activations.replace({ ...activation, seat: { ...activation.seat, releasedAtMs, fileUntilMs } });
    clock.store();
    logMove(license, terms, activation.fingerprint, false);
    addChange('released', actor, license, activation, nowMs);
  };

  const addRefusal = (license: CopiedLicense, fingerprint: string, name: string | null, nowMs: number) => {
    if (activations.noteRefusal(license.id, nowMs, REFUSED_EVENT_INTERVAL_MS))
      addEvent('activation.refused', license, { id: null, fingerprint, name }, nowMs);
  };

  /** Decides about the machine's seat, and writes the decision. */
  const applySeat = (
    actor: SeatActor,
    call: SeatCall,
    license: CopiedLicense,
    terms: Terms,
    request: ApplicationRequest,
    nowMs: number,
  ): { code: SeatCode; activation: Activation | null } => {
    const { fingerprint = '', replace } = request;
    const known = fingerprint ? activations.read(license.id, fingerprint, nowMs) : null;
    const replaced = replace && terms.selfService ? activations.find(license.id, replace, nowMs) : null;
    const { decision, machine, isOtherMachine } = planSeat(
      {
        call,
        terms,
        request,
        known,
        count: () => activations.count(license.id, nowMs),
        replaces: replaced !== null && isReplaceable(replaced, nowMs),
      },
      nowMs,
    );
    if (decision.replaces && replaced) release(actor, license, terms, replaced, nowMs);
    if (decision.code === 'no_seat' || decision.code === 'transfer_limit') {
      if (call !== 'heartbeat') addRefusal(license, fingerprint, machine.name, nowMs);
      return { code: decision.code, activation: null };
    }
    if (call === 'deactivate') {
      if (known && decision.seat) release(actor, license, terms, known, nowMs);
      return { code: decision.code, activation: null };
    }
    if (decision.takes && decision.seat) {
      const isNew = known === null || known.seat.releasedAtMs !== null;
      const taken = activations.take(
        { ...machine, licenseId: license.id, fingerprint, seat: decision.seat },
        known,
        nowMs,
      );
      clock.store();
      // Without a limit, branches don't count the seats.
      if (terms.maxActivations !== null) logMove(license, terms, fingerprint, true);
      if (isNew) addChange('taken', actor, license, taken, nowMs);
      return { code: decision.code, activation: taken };
    }
    if (!known || !isHeld(decision.seat ?? known.seat, nowMs))
      return { code: decision.code, activation: null };
    if (!decision.seat && !isOtherMachine) return { code: decision.code, activation: known };
    const renewed = { ...known, ...machine, seat: decision.seat ?? known.seat };
    activations.renew(renewed);
    // The seat was released and stayed held by an offline file.
    const isBack = known.seat.releasedAtMs !== null && renewed.seat.releasedAtMs === null;
    if (isBack) addChange('taken', actor, license, renewed, nowMs);
    return { code: decision.code, activation: renewed };
  };

  /** Adds a machine of an import, unless the license knows it. It gets a seat only if one is free. */
  const addImported = (
    license: CopiedLicense,
    terms: Terms,
    imported: ImportedSeat,
    isDryRun: boolean,
    nowMs: number,
  ): ImportedSeatResult => {
    const { maxActivations } = terms;
    const { fingerprint, name, platform, appVersion, seat } = imported;
    const machine = { licenseId: license.id, fingerprint, name, platform, appVersion, seat };
    if (!isRecent(seat, nowMs)) return 'skipped';
    if (activations.read(license.id, fingerprint, nowMs)) return 'unchanged';
    const isTaken = isLive(seat, nowMs);
    if (isTaken && maxActivations !== null && activations.count(license.id, nowMs).used >= maxActivations)
      return 'no_seat';
    if (isDryRun) return 'created';
    if (isTaken) {
      activations.take(machine, null, nowMs);
      clock.store();
      logMove(license, terms, fingerprint, true);
    } else activations.replace({ ...machine, id: newId('act') });
    return 'created';
  };

  return { applySeat, release, addImported };
};
