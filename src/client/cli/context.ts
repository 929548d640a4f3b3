import type { ApiClient } from '../api/client.ts';
import { type CliConfig, readConfig } from './config.ts';
import { answer, connect } from './connection.ts';
import { CliError } from './failure.ts';
import { typed } from './invocation.ts';
import type { Output } from './output.ts';

/** Returns the origin of a URL that the user gave. */
export const toOrigin = (text: string): string => {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw new CliError(`${text} isn’t a URL.`, { advice: 'It must start with https:// or http://.' });
};

/** What a command works with. The configuration is only read if the command needs it. */
export const createContext = (out: Output) => {
  const settings = async (): Promise<CliConfig> => {
    const { LATCHKEY_URL, LATCHKEY_API_KEY } = process.env;
    const stored = LATCHKEY_URL && LATCHKEY_API_KEY ? {} : await readConfig();
    const url = LATCHKEY_URL || stored.url;
    const api_key = (LATCHKEY_API_KEY || stored.api_key)?.trim();
    out.hide(api_key ?? '');
    return { ...(url && { url: toOrigin(url) }), ...(api_key && { api_key }) };
  };

  const requireUrl = async (): Promise<string> => {
    const { url } = await settings();
    if (url) return url;
    throw new CliError('The service’s URL isn’t known.', {
      advice: `Run ${typed('login')}, or set LATCHKEY_URL.`,
    });
  };

  const requireKey = async (): Promise<string> => {
    const { api_key } = await settings();
    if (api_key) return api_key;
    throw new CliError('There is no API key.', {
      advice: `Run ${typed('login')}, or set LATCHKEY_API_KEY.`,
    });
  };

  const api = async (timeoutMs?: number): Promise<ApiClient> =>
    connect(await requireUrl(), await requireKey(), timeoutMs);

  return {
    out,
    settings,
    requireUrl,
    requireKey,
    api,

    /** A client for calls that need no API key. */
    publicApi: async (): Promise<ApiClient> => connect(await requireUrl(), ''),

    /** Returns the API key's account. Only a key of scope `full` may read it. */
    accountId: async (): Promise<string> => {
      try {
        return (await answer((await api()).GET('/api/account'))).id;
      } catch (error) {
        if (!(error instanceof CliError) || error.code !== 'insufficient_scope') throw error;
        throw new CliError('A key with the scope verify can’t tell which account it belongs to.', {
          code: error.code,
          requestId: error.requestId,
          advice: 'Pass --account with the account’s id, or use a key of scope full.',
        });
      }
    },
  };
};

export type Context = ReturnType<typeof createContext>;
