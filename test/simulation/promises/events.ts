import type { Verdict } from '../../../src/shared/rules/verdict.ts';
import type { World } from '../world.ts';
import type { Answer, Asked } from './asked.ts';
import type { Check } from './broken.ts';
import { openTally } from './tally.ts';

// Whatever was answered has sent its event, once.

interface Payload {
  event: string;
  activation_id?: string;
}

export const openEvents = (world: World, check: Check) => {
  const verifies = openTally(world, check, 'events of valid verifies', true);
  const activated = new Set<string>();
  const changes = new Set<string>();

  return {
    began: ({ name, call }: Asked) => {
      if (call === 'verify') verifies.began(name);
    },

    answered: ({ name, call }: Asked, reply: Answer) => {
      if (call === 'verify') verifies.answered(name, reply.refused === null && reply.verdict.valid);
      if (call !== 'activate' || reply.refused !== null) return;
      const { activation } = reply.verdict as Verdict;
      if (activation) activated.add(activation.id);
    },

    /** A change was answered that was committed with this event. */
    changed: (eventId: string) => changes.add(eventId),

    checkEnd: (arrived: ReadonlyMap<string, string>) => {
      for (const id of changes) check(arrived.has(id), () => `the event ${id} of a change is lost`);
      const counts = new Map<string, number>();
      for (const payload of arrived.values()) {
        const { event, activation_id: id = '' } = JSON.parse(payload) as Payload;
        counts.set(`${event} ${id}`, (counts.get(`${event} ${id}`) ?? 0) + 1);
      }
      for (const [name, count] of counts)
        check(
          count === 1 || !name.startsWith('activation.') || name.endsWith('null'),
          () => `${count} events ${name} have arrived`,
        );
      for (const id of activated)
        check(counts.has(`activation.created ${id}`), () => `the event of the activation ${id} is lost`);
      verifies.check(counts.get('license.verified ') ?? 0);
    },
  };
};
