// A flood of requests must not become a flood of log lines: forged keys could fill the log, and a line for
// every successful verify would double the price of a verify.

const LINES_PER_SECOND = 10;

interface Sample {
  second: number;
  lines: number;
  skipped: number;
}

/** Limits the log lines of each kind of request. The number of kinds must be small. */
export const createLogSampler = () => {
  const samples = new Map<string, Sample>();

  /** Returns how many requests the next line stands for, or 0 if this request gets no line. */
  return (kind: string, nowMs: number): number => {
    const second = Math.floor(nowMs / 1_000);
    const sample = samples.get(kind) ?? { second, lines: 0, skipped: 0 };
    samples.set(kind, sample);
    if (sample.second !== second) Object.assign(sample, { second, lines: 0 });
    if (sample.lines >= LINES_PER_SECOND) {
      sample.skipped++;
      return 0;
    }
    const times = sample.skipped + 1;
    sample.lines++;
    sample.skipped = 0;
    return times;
  };
};
