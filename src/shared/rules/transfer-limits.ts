// What bounds a transfer: an import or an export. The service, the dashboard, and the tool read and write within these.

/** Of an import's body. */
export const MAX_IMPORT_BYTES = 5 * 1024 * 1024;
/** Of an import's request. The same body continues after them with a cursor. */
export const MAX_IMPORT_LINES = 20_000;
/** Of a CSV file. */
export const MAX_COLUMNS = 200;
/** The characters of a line, or of a CSV record with the line breaks in its quotes. */
export const MAX_LINE_LENGTH = 65_536;

/** The parts in which the dashboard and the tool send a file. Small ones show progress, and repeat less after a cut. */
export const MAX_PART_LINES = 2_000;
export const MAX_PART_LENGTH = 1024 * 1024;
/** The characters of failed lines that the dashboard and the tool hold, so that they can be corrected and sent again. */
export const MAX_FAILED_LENGTH = 10_000_000;
