import { HOUR_MS } from '../../shared/rules/dates.ts';
import type { CallName } from '../../shared/rules/verdict.ts';
import { licenseEvent } from '../../shared/text/events.ts';
import { describe, type Situation } from '../rules/judge.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import { REFUSALS, type SeatActor, type SeatChange, type SeatRefusal } from '../rules/seats.ts';
import type { Copy } from './copy.ts';
import type { HomeStore } from './store.ts';

// What a license's history and events say of its seats.

const REFUSED_INTERVAL_MS = HOUR_MS;

const EVENTS = {
  taken: 'activation.created',
  released: 'activation.released',
  no_seat: 'activation.refused',
  transfer_limit: 'activation.refused',
} as const satisfies Record<SeatChange['action'], string>;

/** Why the machine found no seat, which the seller may want to know. */
export const refusalOf = (call: CallName, code: string): SeatRefusal | undefined =>
  call === 'heartbeat' ? undefined : REFUSALS.find((refusal) => refusal === code);

/** Without an id, the machine was refused. */
interface NamedMachine {
  id: string | null;
  fingerprint: string;
  name: string | null;
}

export const openSeatNotes = ({
  copy,
  machines,
  machineTotals,
  outgoing,
}: Pick<HomeStore, 'machines' | 'machineTotals' | 'outgoing'> & { copy: Pick<Copy, 'account'> }) => {
  const note = (
    actor: SeatActor,
    license: CopiedLicense,
    action: SeatChange['action'],
    { id, fingerprint, name }: NamedMachine,
    nowMs: number,
  ) => {
    const change = { atMs: nowMs, action, actor, activationId: id ?? '', fingerprint, name };
    machines.history.add(license.id, change, machineTotals.isFull(copy.account(), nowMs));
    outgoing.insert([licenseEvent(EVENTS[action], nowMs, license, { activation_id: id, fingerprint, name })]);
  };

  return {
    /** Notes that a machine took or released a seat. */
    move: note,

    /** Notes that a machine found no seat, at most once an hour for each license. */
    refusal: (actor: SeatActor, license: CopiedLicense, refusal: SeatRefusal, situation: Situation) => {
      const { input, nowMs } = situation;
      if (!machines.noteRefusal(license.id, nowMs, REFUSED_INTERVAL_MS)) return;
      const machine = { id: null, fingerprint: input.fingerprint ?? '', name: describe(situation).name };
      note(actor, license, refusal, machine, nowMs);
    },
  };
};
