// Vitest global setup: hashes the password of all test accounts once per run, because a hash takes 0.2 s.
import type { TestProject } from 'vitest/node';
import { hashPassword } from '../../src/users/passwords.ts';

const PASSWORD = 'correct horse battery';

declare module 'vitest' {
  interface ProvidedContext {
    credentials: { password: string; passwordHash: string };
  }
}

export default async ({ provide }: TestProject) => {
  provide('credentials', { password: PASSWORD, passwordHash: await hashPassword(PASSWORD) });
};
