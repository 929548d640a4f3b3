export interface Period {
  startMs: number;
  endMs: number;
}

/** The UTC calendar month around an instant. */
export const calendarMonth = (nowMs: number): Period => {
  const now = new Date(nowMs);
  return {
    startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
    endMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  };
};

export const contains = (period: Period, nowMs: number) => nowMs >= period.startMs && nowMs < period.endMs;

export const secondsUntil = (ms: number, nowMs: number) => Math.max(1, Math.ceil((ms - nowMs) / 1_000));
