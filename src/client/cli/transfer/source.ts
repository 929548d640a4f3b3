import { createReadStream } from 'node:fs';
import { type Encoding, decode, encodingOf, headOf, isText } from '../../../shared/rules/import/encodings.ts';
import { readRows, type SourceRow } from '../../../shared/rules/import/rows.ts';
import { HEAD_LENGTH, type Shape, shapeOf } from '../../../shared/rules/import/shape.ts';
import { openSurvey, type Survey } from '../../../shared/rules/import/survey.ts';
import { CliError } from '../failure.ts';

/** A file to import. Its rows can be read several times, and only a JSON list has to fit into memory. */
export interface ImportFile {
  file: string;
  shape: Shape;
  survey: Survey;
  rows: () => AsyncGenerator<SourceRow>;
}

const firstBytes = async (file: string): Promise<Uint8Array> => {
  for await (const chunk of createReadStream(file, { end: 1 })) return chunk as Uint8Array;
  return new Uint8Array();
};

const notThat = (file: string, encoding: Encoding, cause: unknown) =>
  new CliError(`${file} isn’t ${encoding.toUpperCase()}.`, {
    cause,
    advice:
      'Save it as UTF-8, or say how it is encoded: --encoding=windows-1252 is what Excel writes in Western Europe.',
  });

async function* readText(file: string, encoding: Encoding): AsyncGenerator<string> {
  try {
    yield* decode(createReadStream(file) as AsyncIterable<Uint8Array>, encoding);
  } catch (cause) {
    if (cause instanceof TypeError) throw notThat(file, encoding, cause);
    throw cause;
  }
}

/** Looks through a file. */
export const openSource = async (file: string, chosen?: Encoding): Promise<ImportFile> => {
  const encoding = chosen ?? encodingOf(await firstBytes(file));
  const { head, isWhole } = await headOf(readText(file, encoding), HEAD_LENGTH);
  if (!isText(head))
    throw new CliError(`${file} isn’t a text file.`, { advice: 'Save a spreadsheet as “CSV UTF-8”.' });
  const shape = shapeOf(head, isWhole);
  const rows = () => readRows(readText(file, encoding), shape);
  const survey = openSurvey();
  for await (const row of rows()) survey.add(row);
  return { file, shape, survey: survey.result(), rows };
};
