import { type Command, COMMON_OPTIONS, usageOf } from './command.ts';
import { invocation, typed } from './invocation.ts';

const columns = (rows: [string, string][]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};

const optionRows = (options: Command['options']): [string, string][] =>
  Object.entries(options).map(([name, { value, help }]) => [`--${name}${value ? ` ${value}` : ''}`, help]);

export const helpOf = (definition: Command): string =>
  [
    `${definition.summary}.`,
    '',
    `Usage: ${usageOf(definition)}`,
    '',
    ...(definition.details ? [...definition.details, ''] : []),
    'Options:',
    ...columns(optionRows({ ...definition.options, ...COMMON_OPTIONS })),
  ].join('\n');

export const overview = (commands: Command[]): string =>
  [
    `Usage: ${invocation()} COMMAND [options]`,
    '',
    'Commands:',
    ...columns(commands.map(({ name, args, summary }) => [[name, ...args].join(' '), summary])),
    '',
    'Options:',
    ...columns([...optionRows(COMMON_OPTIONS), ['--version', 'Print the version']]),
    '',
    `Run ${typed('COMMAND --help')} for the options of a command.`,
    '',
    'LICENSE is a license’s id or its license key.',
    'LATCHKEY_URL and LATCHKEY_API_KEY take precedence over what login has stored.',
    'Exit status: 0 for success and valid, 1 for not valid, 2 for inconclusive and failed.',
  ].join('\n');
