import { parseArgs } from 'node:util';
import type { Context } from './context.ts';
import { CliError } from './failure.ts';
import { invocation } from './invocation.ts';

interface Option {
  /** The name of the value in the help. Without it, the option is a switch. */
  value?: string;
  multiple?: true;
  help: string;
}

type Options = Record<string, Option>;

type Values<O extends Options> = {
  [Name in keyof O]?: O[Name] extends { value: string }
    ? O[Name] extends { multiple: true }
      ? string[]
      : string
    : boolean;
};

export interface CommandOf<O extends Options> {
  name: string;
  /** The positional arguments as the help shows them. Those in brackets are optional. */
  args: string[];
  summary: string;
  /** Lines for the command's own help. */
  details?: string[];
  options: O;
  /** Returns the exit status. */
  run: (context: Context, args: string[], options: Values<O>) => Promise<number>;
}

export type Command = CommandOf<Options>;

export const command = <const O extends Options>(definition: CommandOf<O>): Command =>
  definition as unknown as Command;

/** Options of every command. */
export const COMMON_OPTIONS: Options = {
  json: { help: 'Print JSON' },
  help: { help: 'Show help' },
};

export const usageOf = ({ name, args, options }: Command): string =>
  [invocation(), name, ...args, ...(Object.keys(options).length > 0 ? ['[options]'] : [])].join(' ');

/** Parses the words after the command's name. */
export const parse = (definition: Command, words: string[]) => {
  const options = { ...definition.options, ...COMMON_OPTIONS };
  const config = Object.entries(options).map(([name, { value, multiple = false }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', multiple } as const,
  ]);
  const { values, positionals } = readWords(words, Object.fromEntries(config), definition);
  const required = definition.args.filter((arg) => !arg.startsWith('[')).length;
  const isComplete = values['help'] === true || positionals.length >= required;
  if (!isComplete || positionals.length > definition.args.length)
    throw new CliError(`Usage: ${usageOf(definition)}`);
  return { values, positionals };
};

const readWords = (
  args: string[],
  options: Record<string, { type: 'boolean' | 'string'; multiple: boolean }>,
  definition: Command,
) => {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const [message] = (error as Error).message.split('. ');
    throw new CliError(`${message}.`, { advice: `Usage: ${usageOf(definition)}` });
  }
};

/** Reads an option that is a whole number. */
export const wholeNumber = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new CliError(`--${name} must be a whole number.`);
  return Number(text);
};

/** Leaves out the fields that are undefined. */
export const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
