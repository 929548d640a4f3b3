import { outcomeOf, type Reading, readingOf } from '../../../src/shared/rules/import/reading.ts';
import { readRows, type SourceRow } from '../../../src/shared/rules/import/rows.ts';
import { type Shape, shapeOf } from '../../../src/shared/rules/import/shape.ts';
import { openSurvey, type SourceId, type Survey } from '../../../src/shared/rules/import/survey.ts';

async function* inChunks(text: string, size: number) {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

export interface ReadFile {
  shape: Shape;
  rows: SourceRow[];
  survey: Survey;
  reading: Reading;
  /** What becomes of each row: its line, its problem, or why it is left out. */
  outcomes: (object | string)[];
}

/** Reads a text as the dashboard and the tool read a file. */
export const readText = async (
  text: string,
  { source, order, chunk = 1_000 }: { source?: SourceId; order?: 'dmy' | 'mdy'; chunk?: number } = {},
): Promise<ReadFile> => {
  const shape = shapeOf(text, true);
  const rows: SourceRow[] = [];
  const survey = openSurvey();
  for await (const row of readRows(inChunks(text, chunk), shape)) {
    rows.push(row);
    survey.add(row);
  }
  const found = survey.result();
  const reading = { ...readingOf(found, source), ...(order && { order }) };
  const outcomes = rows.map((row) => {
    const outcome = outcomeOf(row, reading);
    if ('line' in outcome) return outcome.line;
    return 'problem' in outcome ? `failed: ${outcome.problem}` : `left out: ${outcome.leftOut}`;
  });
  return { shape, rows, survey: found, reading, outcomes };
};

/** Returns a table with the values of the columns. */
export const tableOf = (row: Record<string, string>, delimiter = ','): string =>
  [Object.keys(row), Object.values(row)].map((cells) => `${cells.join(delimiter)}\n`).join('');
