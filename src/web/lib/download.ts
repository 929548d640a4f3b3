import { toCsvRecord } from '../../shared/rules/csv.ts';

/** Offers a file to the user. */
export const downloadFile = (name: string, file: Blob) => {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the address by then.
  setTimeout(() => URL.revokeObjectURL(url));
};

export const downloadText = (name: string, type: string, text: string) =>
  downloadFile(name, new Blob([text], { type }));

/** Returns a CSV file. */
export const toCsv = (rows: string[][]): string => rows.map((cells) => `${toCsvRecord(cells)}\r\n`).join('');
