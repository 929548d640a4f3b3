interface Event {
  atMs: number;
  work: () => void;
}

/** Returns once all promises have settled that need no event of the simulation. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Virtual time. It jumps from event to event, so nothing waits, and the same events come in the same order each time. A turn is
 * an event with everything that follows from it at once. `afterTurn` runs at its end.
 */
export const openTime = (startMs: number, afterTurn: () => void) => {
  /** In the order of their times, the next one last. */
  const events: Event[] = [];
  let nowMs = startMs;

  const turn = async (work: () => void) => {
    work();
    await settled();
    afterTurn();
  };

  return {
    nowMs: () => nowMs,

    /** Lets something happen. Returns a function that calls it off. */
    after: (ms: number, work: () => void): (() => void) => {
      const event = { atMs: nowMs + Math.max(0, ms), work };
      let low = 0;
      let high = events.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((events[middle]?.atMs ?? 0) <= event.atMs) high = middle;
        else low = middle + 1;
      }
      events.splice(low, 0, event);
      return () => {
        event.work = () => {};
      };
    },

    /** Does something now, as a turn of its own. */
    turn,

    /** Lets the next event happen, if it comes until a time. Otherwise it becomes this time. */
    step: async (untilMs: number): Promise<boolean> => {
      const next = events.at(-1);
      if (!next || next.atMs > untilMs) {
        nowMs = Math.max(nowMs, untilMs);
        return false;
      }
      events.pop();
      nowMs = next.atMs;
      await turn(next.work);
      return true;
    },
  };
};

export type Time = ReturnType<typeof openTime>;

/** The clock of one machine, which runs fast or slow and can be set. */
export const openClock = (time: Time, drift: number) => {
  const startMs = time.nowMs();
  let setMs = startMs;
  const rate = 1 + drift;
  return {
    nowMs: () => Math.floor(setMs + (time.nowMs() - startMs) * rate),
    /** How long a timer of this machine really takes. */
    realMs: (ms: number) => ms / rate,
    set: (byMs: number) => {
      setMs += byMs;
    },
  };
};

export type Clock = ReturnType<typeof openClock>;
