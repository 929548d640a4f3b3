import type { SQL } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { NOTHING_TOLD, type Told } from '../mail/tell.ts';
import type { AttemptOutcome } from '../users/limits.ts';
import { type AttemptReservation, isToTell, settleAttempt } from '../users/throttle.ts';

/** Returns what a wrong password or code leaves behind, if the condition holds: every so many of them do. */
export type NoteGuess = (isTold: SQL) => Promise<Told>;

/** Settles an attempt. The owner is told of guesses in the batch that counts them. */
export const settleGuess = async (
  ctx: PublicCtx,
  reservations: AttemptReservation[],
  outcome: AttemptOutcome,
  note: NoteGuess,
): Promise<void> => {
  const told = outcome === 'failure' ? await note(isToTell(ctx, reservations)) : NOTHING_TOLD;
  if (await settleAttempt(ctx, reservations, outcome, told.statements)) told.send();
};
