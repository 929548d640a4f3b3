// What a run shows of the times that its calls took.

export const quantile = (samples: number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? Number.NaN;

export const summarize = (samples: number[]) =>
  `p50 ${quantile(samples, 0.5).toFixed(1)} ms, p95 ${quantile(samples, 0.95).toFixed(1)} ms (${samples.length} calls)`;
