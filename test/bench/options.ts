// The command line options.
import { parseArgs } from 'node:util';

export interface Options {
  /** Licenses of the big account. */
  licenses: number;
  keys: number;
  rounds: number;
  sliceMs: number;
  /** Calls per round and query. */
  listCalls: number;
  json: string | null;
  soak: boolean;
  minutes: number;
}

const positive = (name: string, text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number greater than 0.`);
  return value;
};

export const readOptions = (args: string[]): Options => {
  const { values } = parseArgs({
    args,
    options: {
      licenses: { type: 'string', default: '1000000' },
      keys: { type: 'string', default: '100' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '10' },
    },
  });
  return {
    licenses: Math.round(positive('licenses', values.licenses)),
    keys: Math.round(positive('keys', values.keys)),
    rounds: Math.round(positive('rounds', values.rounds ?? (values.quick ? '2' : '5'))),
    sliceMs: positive('seconds', values.seconds ?? (values.quick ? '1' : '4')) * 1_000,
    listCalls: values.quick ? 10 : 40,
    json: values.json ?? null,
    soak: values.soak,
    minutes: positive('minutes', values.minutes),
  };
};
