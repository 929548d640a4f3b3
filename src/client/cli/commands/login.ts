import { text as readAll } from 'node:stream/consumers';
import { command } from '../command.ts';
import { configPath, readConfig, writeConfig } from '../config.ts';
import { answer, connect } from '../connection.ts';
import { toOrigin } from '../context.ts';
import { CliError } from '../failure.ts';
import { prompt } from '../prompt.ts';

const { stdin } = process;

const readUrl = async (option: string | undefined): Promise<string> => {
  const known = option || process.env['LATCHKEY_URL'] || (await readConfig().catch(() => null))?.url;
  if (known) return toOrigin(known);
  if (!stdin.isTTY)
    throw new CliError('The service’s URL isn’t known.', { advice: 'Pass --url, or set LATCHKEY_URL.' });
  return toOrigin(await prompt('URL of the service: ', false));
};

/** Returns whose key it is, or throws if the service refuses the key. */
const identify = async (url: string, apiKey: string): Promise<{ account: string | null; scope: string }> => {
  try {
    const { email } = await answer(connect(url, apiKey).GET('/api/account'));
    return { account: email, scope: 'full' };
  } catch (error) {
    if (error instanceof CliError && error.code === 'insufficient_scope')
      return { account: null, scope: 'verify' };
    throw error;
  }
};

export const login = command({
  name: 'login',
  args: [],
  summary: 'Store the service’s URL and an API key',
  details: [
    'Asks for the API key, or reads it from standard input. Only your user can read the file that it is stored in.',
    'The environment variables LATCHKEY_URL and LATCHKEY_API_KEY take precedence over the file.',
  ],
  options: { url: { value: 'URL', help: 'The service’s URL' } },
  run: async ({ out }, _args, { url: option }) => {
    const url = await readUrl(option);
    const apiKey = stdin.isTTY ? await prompt('API key: ', true) : (await readAll(stdin)).trim();
    out.hide(apiKey);
    if (!/^[\x21-\x7E]+$/.test(apiKey)) throw new CliError('That isn’t an API key.');
    const { account, scope } = await identify(url, apiKey);
    const path = configPath();
    await writeConfig({ url, api_key: apiKey }, path);
    const fields = { url, account, scope, file: path };
    out.fields(fields, fields);
    if (scope === 'verify')
      out.warn('This key has the scope verify. Only verify, keys pull --account, and doctor can use it.');
    for (const name of ['LATCHKEY_URL', 'LATCHKEY_API_KEY'])
      if (process.env[name]) out.warn(`${name} is set and takes precedence over the file.`);
    return 0;
  },
});
