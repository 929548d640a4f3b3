import { env } from 'cloudflare:workers';
import { vi } from 'vitest';

/** Returns what `work` returns, and the statements that it prepared for D1. */
export const recordStatements = async <T>(work: () => Promise<T>) => {
  const prepare = vi.spyOn(Object.getPrototypeOf(env.DB) as D1Database, 'prepare');
  try {
    return { result: await work(), statements: prepare.mock.calls.map(([statement]) => statement) };
  } finally {
    prepare.mockRestore();
  }
};
