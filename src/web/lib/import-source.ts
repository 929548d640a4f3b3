import type { Delimiter } from '../../shared/rules/csv.ts';
import { decode, type Encoding, encodingOf, headOf, isText } from '../../shared/rules/import/encodings.ts';
import { readRows, type SourceRow } from '../../shared/rules/import/rows.ts';
import { HEAD_LENGTH, type Shape, shapeOf } from '../../shared/rules/import/shape.ts';
import { openSurvey, type Survey } from '../../shared/rules/import/survey.ts';

/** A file to import. Its rows can be read several times. */
export interface ChosenFile {
  file: File;
  encoding: Encoding;
  shape: Shape;
  /** Whether another delimiter could be meant. */
  hasDoubt: boolean;
  survey: Survey;
  rows: () => AsyncGenerator<SourceRow>;
}

/** What a person has chosen where the file leaves it open. */
export interface SourceChoice {
  encoding?: Encoding;
  delimiter?: Delimiter;
}

const SLICE_BYTES = 262_144;

async function* slicesOf(file: Blob): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += SLICE_BYTES)
    yield new Uint8Array(await file.slice(start, start + SLICE_BYTES).arrayBuffer());
}

const NOT_TEXT = 'This isn’t a text file. Save a spreadsheet as “CSV UTF-8”, and choose that file.';
const WORKBOOK = /\.(?:xlsx?|xlsm|ods|numbers)$/i;

const openAs = async (file: File, encoding: Encoding, { delimiter }: SourceChoice): Promise<ChosenFile> => {
  const text = () => decode(slicesOf(file), encoding);
  const { head, isWhole } = await headOf(text(), HEAD_LENGTH);
  if (!isText(head) || WORKBOOK.test(file.name)) throw new Error(NOT_TEXT);
  const found = shapeOf(head, isWhole);
  const shape: Shape = found.kind === 'table' && delimiter !== undefined ? { ...found, delimiter } : found;
  const rows = () => readRows(text(), shape);
  const survey = openSurvey();
  for await (const row of rows()) survey.add(row);
  const hasDoubt = found.kind === 'table' && !found.isSure;
  return { file, encoding, shape, hasDoubt, survey: survey.result(), rows };
};

/** Looks through a file. One that isn't UTF-8 is taken for what Excel writes, and a person checks the names in it. */
export const openSource = async (file: File, choice: SourceChoice = {}): Promise<ChosenFile> => {
  const marked = encodingOf(new Uint8Array(await file.slice(0, 2).arrayBuffer()));
  try {
    return await openAs(file, choice.encoding ?? marked, choice);
  } catch (error) {
    if (!(error instanceof TypeError) || choice.encoding) throw error;
    return openAs(file, 'windows-1252', choice);
  }
};
