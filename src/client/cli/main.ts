import { readFileSync } from 'node:fs';
import { parse } from './command.ts';
import { COMMANDS } from './commands.ts';
import { createContext } from './context.ts';
import { CliError } from './failure.ts';
import { helpOf, overview } from './help.ts';
import { typed } from './invocation.ts';
import { createOutput, type Output } from './output.ts';

const readVersion = (): string => {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

const run = async (words: string[], out: Output): Promise<number> => {
  const [first = '--help'] = words;
  const found = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (found) {
    const { values, positionals } = parse(found, words.slice(found.name.split(' ').length));
    if (values['help'] !== true) return found.run(createContext(out), positionals, values as never);
    out.text(helpOf(found));
    return 0;
  }
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${first} `));
  if (first === '--version') out.text(readVersion());
  else if (first === '--help' || first === 'help' || (isGroup && words.includes('--help')))
    out.text(overview(COMMANDS.filter(({ name }) => !isGroup || name.startsWith(`${first} `))));
  else
    throw new CliError(`There is no command ${words.slice(0, isGroup ? 2 : 1).join(' ')}.`, {
      advice: `Run ${typed('--help')}.`,
    });
  return 0;
};

/** Runs a command and returns the exit status. */
export const main = async (words: string[]): Promise<number> => {
  // A reader such as `head` may close the pipe before everything is written. A full disk is a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 2),
  );
  // Messages that nobody can read don't change the exit status.
  process.stderr.on('error', () => {});
  const out = createOutput(words.includes('--json'));
  try {
    return await run(words, out);
  } catch (error) {
    out.error(error);
    return 2;
  }
};
