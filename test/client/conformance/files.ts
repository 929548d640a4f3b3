import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { chainCases } from '../../conformance/cases/chains.ts';
import type { fileCases } from '../../conformance/cases/files.ts';
import type { fingerprintCases } from '../../conformance/cases/fingerprints.ts';
import type { spellingCases } from '../../conformance/cases/spellings.ts';
import type { tokenCases } from '../../conformance/cases/tokens.ts';
import type { sequenceFile } from '../../conformance/sequences/words.ts';

export const CONFORMANCE = join(import.meta.dirname, '../../../conformance');

interface Files {
  'tokens.json': Awaited<ReturnType<typeof tokenCases>>;
  'key-chains.json': Awaited<ReturnType<typeof chainCases>>;
  'key-spellings.json': ReturnType<typeof spellingCases>;
  'fingerprints.json': ReturnType<typeof fingerprintCases>;
  'offline-files.json': Awaited<ReturnType<typeof fileCases>>;
}

/** Reads a file of conformance/ as another language would: as JSON. */
export const readConformance = <Name extends keyof Files>(name: Name): Files[Name] =>
  JSON.parse(readFileSync(join(CONFORMANCE, name), 'utf8')) as Files[Name];

type SequenceFile = ReturnType<typeof sequenceFile>;

/** Reads a file of conformance/sequences/. */
export const readSequences = (name: string): SequenceFile =>
  JSON.parse(readFileSync(join(CONFORMANCE, 'sequences', name), 'utf8')) as SequenceFile;
