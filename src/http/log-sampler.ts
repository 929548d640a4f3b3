// Limits how much a flood of requests writes to the log. Without sampling, forged keys could fill the log, and logging
// every successful verify would double its cost.

const LINES_PER_SECOND = 10;

interface Sample {
  second: number;
  lines: number;
  skipped: number;
}

/** Limits the log lines per second for each kind of request. The number of kinds must be small. */
export const createLogSampler = () => {
  const samples = new Map<string, Sample>();

  /** Returns how many requests this request's log line stands for, or 0 if it isn't logged. */
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
