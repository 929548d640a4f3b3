// Compares verify with the floor of the platform, and with an implementation on D1.
import type { Load } from './load/load.ts';
import type { Options } from './options.ts';
import type { Fixtures } from './references.ts';
import { type Figure, measure } from './rounds.ts';
import type { Grown, Small } from './seed.ts';
import type { Running } from './service.ts';
import { echoTarget, forgedTargets, verifyTarget } from './targets.ts';

const CONNECTIONS = 64;
/** Stays below the burst of 2,000 calls that the rate limit allows one idle API key. */
const CALLS_OF_ONE_KEY = 1_500;
const HOT = 1_000;

export interface VerifyFigures {
  /** With 64 connections. */
  many: Record<string, Figure>;
  /** With one connection. */
  one: Record<string, Figure>;
  /** With one connection, by the size of the account. */
  bySize: Record<string, Figure>;
}

interface Stage {
  load: Load;
  options: Options;
  fixtures: Fixtures;
  small: Running;
  big: Running;
  accounts: Small;
  grown: Grown;
}

export const measureVerify = async (stage: Stage): Promise<VerifyFigures> => {
  const { load, options, fixtures, small, big, accounts, grown } = stage;
  const { busy, unsubscribed, single } = accounts;
  const { rounds, sliceMs } = options;
  const manySlice = { connections: CONNECTIONS, calls: Infinity, durationMs: sliceMs };
  const oneSlice = { connections: 1, calls: CALLS_OF_ONE_KEY, durationMs: sliceMs };
  const verify = verifyTarget('verify', small.runtime, busy);
  const floor = verifyTarget('floor', fixtures.floor, busy);
  const framed = verifyTarget('floor in our HTTP layer', fixtures.framed, busy);
  const stored = verifyTarget('floor that keeps a count', fixtures.stored, busy);
  const many = await measure(
    load,
    [
      floor,
      framed,
      stored,
      verify,
      verifyTarget('verify, no webhooks', small.runtime, unsubscribed),
      verifyTarget('three D1 statements', fixtures.d1, busy),
      ...forgedTargets(small.runtime, busy.licenses),
      echoTarget(fixtures.echo, busy),
    ],
    manySlice,
    rounds,
  );
  const one = await measure(load, [floor, framed, stored, verify], oneSlice, rounds);
  const bySize = await measure(
    load,
    [
      verifyTarget('small account', small.runtime, single),
      verifyTarget('big account', big.runtime, grown),
      verifyTarget('big account, hot', big.runtime, grown, Math.min(HOT, grown.licenses.count)),
    ],
    oneSlice,
    rounds,
  );
  return { many, one, bySize };
};
