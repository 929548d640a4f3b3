import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from './failure.ts';
import { typed } from './invocation.ts';
import { writeWhole } from './whole-file.ts';

export interface CliConfig {
  url?: string;
  api_key?: string;
}

type Environment = Record<string, string | undefined>;

const folderOf = (env: Environment, platform: NodeJS.Platform): string => {
  if (env['XDG_CONFIG_HOME']) return env['XDG_CONFIG_HOME'];
  if (platform === 'win32') return env['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming');
  return platform === 'darwin'
    ? join(homedir(), 'Library', 'Application Support')
    : join(homedir(), '.config');
};

export const configPath = (env: Environment = process.env, platform = process.platform): string =>
  join(folderOf(env, platform), 'latchkey', 'config.json');

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    throw new CliError(`${path} can’t be read: ${(error as Error).message}`, { cause: error });
  }
};

/** Returns the stored configuration, which is empty before `npm run latchkey -- login`. */
export const readConfig = async (path = configPath()): Promise<CliConfig> => {
  const text = await readText(path);
  try {
    const { url, api_key } = JSON.parse(text) as Record<string, unknown>;
    return {
      ...(typeof url === 'string' && { url }),
      ...(typeof api_key === 'string' && { api_key }),
    };
  } catch {
    // The parser's message could contain a part of the API key.
    throw new CliError(`${path} isn’t valid JSON.`, { advice: `Run ${typed('login')}.` });
  }
};

/** Writes a file that only the user can read. */
export const writeConfig = async (config: CliConfig, path = configPath()): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWhole(path, (append) => append(`${JSON.stringify(config, null, 2)}\n`));
};
