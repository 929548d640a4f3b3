import { extname } from 'node:path';
import type { PinnedKeys } from '../../core/types.ts';
import { command } from '../command.ts';
import { answer } from '../connection.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { PUBLIC, writeWhole } from '../whole-file.ts';

/** Returns the account's public keys, and the chain that leads to the newer keys. */
export const fetchKeys = async ({ publicApi }: Context, account: string) => {
  const path = { account_id: account };
  const { keys, chain } = await answer(
    (await publicApi()).GET('/api/v1/jwks/{account_id}', { params: { path } }),
  );
  const pinned: PinnedKeys = { account, keys: keys.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid })) };
  return { pinned, chain };
};

const json = (keys: PinnedKeys) => JSON.stringify(keys, null, 2);

const module = (keys: PinnedKeys, suffix: string) =>
  `// Written by \`npm run latchkey -- keys pull\`.\nexport const keys = ${json(keys)}${suffix};\n`;

const FORMATS: Record<string, (keys: PinnedKeys) => string> = {
  '.json': (keys) => `${json(keys)}\n`,
  '.ts': (keys) => module(keys, ' as const'),
  '.js': (keys) => module(keys, ''),
  '.mjs': (keys) => module(keys, ''),
};

export const pullKeys = command({
  name: 'keys pull',
  args: [],
  summary: 'Get the public keys that your application pins',
  details: [
    'The file contains the account’s id and its public keys, to pass to createLicense() as `keys`.',
    'Run it when you build your application, on a network that you trust.',
  ],
  options: {
    out: { value: 'FILE', help: 'Write a .ts, .js, .mjs, or .json file instead of printing JSON' },
    account: { value: 'ID', help: 'The account’s id. By default, the account of the API key' },
  },
  run: async (context, _args, { out: file, account }) => {
    const format = file === undefined ? undefined : FORMATS[extname(file)];
    if (file !== undefined && !format) throw new CliError('FILE must end in .ts, .js, .mjs, or .json.');
    const { pinned } = await fetchKeys(context, account ?? (await context.accountId()));
    if (file === undefined || !format) context.out.json(pinned);
    else {
      await writeWhole(file, (append) => append(format(pinned)), PUBLIC);
      const fields = { file, account: pinned.account, keys: pinned.keys.length };
      context.out.fields({ ...fields, ...pinned }, fields);
    }
    return 0;
  },
});
