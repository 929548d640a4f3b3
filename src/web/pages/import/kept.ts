import { isAddedColumn } from '../../../shared/rules/import/columns.ts';
import type { Reading } from '../../../shared/rules/import/reading.ts';
import type { Survey } from '../../../shared/rules/import/survey.ts';
import type { ImportJob } from '../../data/import.ts';
import { readPreference, writePreference } from '../../data/session.ts';

// Keeps what was chosen for the last file, so that after a reload it is chosen for a file with the same columns.

export interface ImportChoices {
  reading: Reading;
  /** The codes of products by what the file names them. */
  codes: Record<string, string>;
  allowsLabels: boolean;
  onConflict: ImportJob['onConflict'];
}

const NAME = 'import';

/** A file of failed rows has more columns than its file. */
const fileOf = ({ columns }: Survey) => JSON.stringify(columns.filter((name) => !isAddedColumn(name)));

export const readChoices = (survey: Survey): ImportChoices | null => {
  try {
    const kept = JSON.parse(readPreference(NAME) ?? 'null') as {
      file: string;
      choices: ImportChoices;
    } | null;
    // Updating licenses is chosen anew each time.
    return kept?.file === fileOf(survey) ? { ...kept.choices, onConflict: 'fail' } : null;
  } catch {
    return null;
  }
};

export const keepChoices = (survey: Survey, choices: ImportChoices): void =>
  writePreference(NAME, JSON.stringify({ file: fileOf(survey), choices }));
