import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    modelRuns: number;
  }
}

/** The environment variable MODEL_RUNS sets how many schedules the model of the gate's branches runs. */
const modelRuns = Number(process.env['MODEL_RUNS'] ?? 10_000);

export default ({ provide }: TestProject) => {
  provide('modelRuns', modelRuns);
};
