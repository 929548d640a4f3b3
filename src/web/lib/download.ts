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

const toCell = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** Returns a CSV file as RFC 4180 describes it. */
export const toCsv = (rows: string[][]): string =>
  rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
