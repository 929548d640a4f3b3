import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    fuzzRuns: number;
  }
}

/**
 * The environment variable FUZZ_RUNS sets how many requests each route receives in test/fuzz. The default keeps
 * `npm test` fast, and `npm run test:fuzz` sends more.
 */
const fuzzRuns = Number(process.env['FUZZ_RUNS'] ?? 25);

export default ({ provide }: TestProject) => {
  provide('fuzzRuns', fuzzRuns);
};
