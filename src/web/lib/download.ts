import { toCsvRecord } from '../../shared/rules/csv.ts';

/** Offers a text to the user as a file. */
export const downloadText = (name: string, type: string, text: string) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the address by then.
  setTimeout(() => URL.revokeObjectURL(url));
};

/** Returns a CSV file. */
export const toCsv = (rows: string[][]): string => rows.map((cells) => `${toCsvRecord(cells)}\r\n`).join('');
