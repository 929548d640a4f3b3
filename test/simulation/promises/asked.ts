import type { AnsweredIn, Reply } from '../../../src/gate/rules/calls.ts';
import type { Region } from '../../../src/shared/rules/regions.ts';
import type { CallName } from '../../../src/shared/rules/verdict.ts';

/** A call of an application, as it began. */
export interface Asked {
  name: string;
  region: Region;
  call: CallName;
  /** The number of the API key. */
  key: number;
  /** The number of the license. */
  license: number;
  licenseKey: string;
  machine: string | null;
  begunMs: number;
  /** The versions that callers had been told of when the call began, by what has them. */
  seen: ReadonlyMap<string, number>;
}

export type Answer = Reply & AnsweredIn;
