import type { Verdict } from '../../../src/shared/rules/verdict.ts';
import { SEATS } from '../account.ts';
import type { Answer, Asked } from './asked.ts';
import type { Check } from './broken.ts';

// No license has more machines than seats, by what was answered. A machine holds its seat from the answer that it has one until
// a call begins that may release it or, by home's clock, until its lease ends.

interface Held {
  machine: string;
  untilMs: number;
}

export const openSeats = (check: Check, homeMs: () => number) => {
  const heldBy = new Map<number, Held[]>();
  /** When calls about a machine's seat have begun and were answered, by license and machine. */
  const moves = new Map<string, { call: 'take' | 'release'; begunMs: number; answeredMs: number | null }[]>();

  const nameOf = ({ license, machine }: Pick<Asked, 'license' | 'machine'>) => `${license} ${machine}`;
  const movesOf = (asked: Pick<Asked, 'license' | 'machine'>) => moves.get(nameOf(asked)) ?? [];

  const drop = ({ license, machine }: Pick<Asked, 'license' | 'machine'>) =>
    heldBy.set(license, heldBy.get(license)?.filter((held) => held.machine !== machine) ?? []);

  const began = (asked: Pick<Asked, 'license' | 'machine' | 'begunMs'>, call: 'take' | 'release') => {
    const move = { call, begunMs: asked.begunMs, answeredMs: null };
    moves.set(nameOf(asked), [...movesOf(asked), move]);
    if (call === 'release') drop(asked);
  };

  const ended = (asked: Pick<Asked, 'license' | 'machine' | 'begunMs'>, nowMs: number) => {
    for (const move of movesOf(asked)) if (move.begunMs === asked.begunMs) move.answeredMs ??= nowMs;
  };

  /** Returns whether the machine has released its seat before the call, and can't have taken another one since. */
  const isReleased = (asked: Asked) => {
    const released = movesOf(asked).findLast(
      ({ call, answeredMs }) => call === 'release' && answeredMs !== null && answeredMs <= asked.begunMs,
    );
    if (!released) return false;
    return movesOf(asked).every(
      ({ call, answeredMs }) => call === 'release' || (answeredMs !== null && answeredMs < released.begunMs),
    );
  };

  return {
    began: (asked: Asked) => {
      if (asked.call === 'activate') began(asked, 'take');
      if (asked.call === 'deactivate') began(asked, 'release');
    },
    /** The seller releases a seat. */
    releases: (license: number, machine: string, nowMs: number) =>
      began({ license, machine, begunMs: nowMs }, 'release'),
    released: (license: number, machine: string, begunMs: number, nowMs: number) =>
      ended({ license, machine, begunMs }, nowMs),

    answered: (asked: Asked, reply: Answer, answeredMs: number) => {
      // A call that was refused, for its pace for example, has moved no seat.
      if (reply.refused === null) ended(asked, answeredMs);
      const { name, call, license, machine } = asked;
      const limit = SEATS[license];
      if (limit === undefined || machine === null || reply.refused !== null) return;
      const { code, activation } = reply.verdict as Verdict;
      if (code !== 'valid' || call === 'deactivate' || !activation) return;
      check(
        call === 'activate' || !isReleased(asked),
        () => `${name} is valid, but ${machine} has released its seat`,
      );
      // A release that was under way at the same time may have come after it.
      const overlaps = movesOf(asked).some(
        ({ call: moved, answeredMs: endedMs }) =>
          moved === 'release' && (endedMs === null || endedMs >= asked.begunMs),
      );
      if (overlaps) return;
      const nowMs = homeMs();
      const known = (heldBy.get(license) ?? []).filter((held) => held.machine !== machine);
      const all = [
        ...known,
        { machine, untilMs: activation.lease_until === null ? Infinity : Date.parse(activation.lease_until) },
      ];
      const held = all.filter(({ untilMs }) => untilMs > nowMs);
      heldBy.set(license, held);
      check(
        held.length <= limit,
        () => `${name} lets ${held.map((seat) => seat.machine).join(' and ')} hold ${limit} seats`,
      );
    },
  };
};
