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

/** Returns how many rows D1 read for the statements of `work`, which must not change anything. */
export const countRowsRead = async (work: () => Promise<unknown>): Promise<number> => {
  const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement, 'bind');
  try {
    await work();
    const results = await Promise.all(
      bind.mock.results.map(async ({ value }) => (value as D1PreparedStatement).all()),
    );
    return results.reduce((sum, { meta }) => sum + meta.rows_read, 0);
  } finally {
    bind.mockRestore();
  }
};
