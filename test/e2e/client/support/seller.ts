import { expect, inject } from 'vitest';
import { createAccount } from '../../support/customer.ts';
import { clientOf } from '../../support/service.ts';
import { createCli } from './run-cli.ts';

/** Creates an account, and runs `latchkey` with a full API key of it. */
export const createSeller = async () => {
  const { origin } = inject('dashboard');
  const customer = await createAccount(clientOf(origin), 'cli');
  const { api_key: apiKey } = await customer.addKey();
  const cli = await createCli({ LATCHKEY_URL: `${origin}/api/v1/`, LATCHKEY_API_KEY: apiKey });

  /** Runs a command that must succeed, and returns what it prints as JSON. */
  const runJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  return {
    origin,
    customer,
    apiKey,
    cli,
    runJson,
    createLicense: async (...args: string[]) =>
      (await runJson('licenses', 'create', ...args)) as { id: string; license_key: string; status: string },
  };
};

export type Seller = Awaited<ReturnType<typeof createSeller>>;
