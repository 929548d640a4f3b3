// How fast a lane sends. Like TCP Vegas, it takes an answer that is slower than the fastest answer as a sign of load.

/** An answer that takes twice as long as the fastest makes the lane pause for this many times the fastest. */
const PAUSE_FACTOR = 10;
const MAX_PAUSE_MS = 150;
/** Clocks count whole milliseconds. */
const MIN_ANSWER_MS = 1;

export interface Pace {
  /** The shortest time in which the outbox has answered this lane. */
  fastestMs: number;
  pauseMs: number;
}

export const FIRST_PACE: Pace = { fastestMs: Infinity, pauseMs: 0 };

/**
 * Returns the pause before a lane's next attempt, so that a busy outbox or machine gets fewer webhooks to handle, and an
 * idle one as many as it can. The pause grows with the square of the delay in relation to the fastest answer: a network
 * is never quite even, but an answer that takes several times as long has waited for other work.
 */
export const nextPace = ({ fastestMs }: Pace, answeredInMs: number): Pace => {
  const answeredMs = Math.max(answeredInMs, MIN_ANSWER_MS);
  const fastest = Math.min(fastestMs, answeredMs);
  const delay = answeredMs / fastest - 1;
  return { fastestMs: fastest, pauseMs: Math.min(PAUSE_FACTOR * fastest * delay ** 2, MAX_PAUSE_MS) };
};
