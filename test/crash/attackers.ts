// The process of the attackers. It is separate because building their bodies would delay the calls that are timed.
import { setTimeout as delay } from 'node:timers/promises';
import { clientOf } from '../e2e/support/service.ts';
import { type Attack, type Attacks, openAttacks } from './attacks.ts';

/** What to send: the attacks of one group, or only one of them. */
export interface Order {
  group: keyof Attacks;
  only?: string;
  seconds: number;
  /** The most calls of all connections together. */
  calls?: number;
}

/** How the calls of an attack were answered. */
export interface Answered {
  name: string;
  /** By status. */
  counts: Record<string, number>;
}

/** Delay between two calls of the same attack. */
const PAUSE_MS = 50;

const repeat = async ({ name, call }: Attack, isOver: () => boolean): Promise<Answered> => {
  const answered: Answered = { name, counts: {} };
  while (!isOver()) {
    const outcome = await call().catch(() => 'cut off');
    answered.counts[outcome] = (answered.counts[outcome] ?? 0) + 1;
    await delay(PAUSE_MS);
  }
  return answered;
};

const [origin = '', email = ''] = process.argv.slice(2);
const attacks = await openAttacks(clientOf(origin), email);

process.on('message', ({ group, only, seconds, calls = Infinity }: Order) => {
  const chosen = attacks[group].filter(({ name }) => only === undefined || name === only);
  const endMs = performance.now() + seconds * 1_000;
  let started = 0;
  const isOver = () => performance.now() >= endMs || started++ >= calls;
  void Promise.all(chosen.map((attack) => repeat(attack, isOver))).then((answered) =>
    process.send?.(answered),
  );
});

process.send?.({
  account: attacks.account.map(({ name }) => name),
  strangers: attacks.strangers.map(({ name }) => name),
  forgers: attacks.forgers.map(({ name }) => name),
});
