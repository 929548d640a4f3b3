import { MAX_LINE_LENGTH } from './transfer-limits.ts';

// Splits a file into records as it arrives. The service, the dashboard, and the tool split files in the same way. The service
// holds no more of a record than a record may have, the others as much as they can write to a file of failed lines.

export type ImportFormat = 'csv' | 'ndjson';

/** A line of JSON, or a CSV record, which can have line breaks within quotes. */
export interface FileRecord {
  /** The number of its first line in the file, from 1. */
  line: number;
  /** As it is in the file, without the line break at its end. */
  text: string;
  isTooLong: boolean;
  /** Whether the text is only the beginning. */
  isCut: boolean;
}

/** A quote at the start of a CSV field opens it. A doubled quote within it is a quote. */
type Place = 'field start' | 'unquoted' | 'quoted' | 'after quote';

const placeAfter = (place: Place, character: string, delimiter: string): Place => {
  if (place === 'quoted') return character === '"' ? 'after quote' : 'quoted';
  if (character === '"' && place !== 'unquoted') return 'quoted';
  return character === delimiter ? 'field start' : 'unquoted';
};

/** Collects the parts of one record, up to `maxLength` characters. */
const openRecord = (maxLength: number) => {
  let text = '';
  let length = 0;
  return {
    add: (part: string) => {
      text += part.slice(0, Math.max(0, maxLength - length));
      length += part.length;
    },
    isEmpty: () => length === 0,
    /** Returns the record and begins the next one. */
    take: (line: number): FileRecord => {
      const isCut = length > maxLength;
      const isTooLong = length > MAX_LINE_LENGTH;
      const record = { line, text: isCut ? text : text.replace(/\r$/, ''), isTooLong, isCut };
      [text, length] = ['', 0];
      return record;
    },
  };
};

/** Reads the records of a text that comes in chunks. */
export interface Records {
  read: (chunk: string) => Generator<FileRecord>;
  /** Returns the last record, if no line break ends it. */
  end: () => Generator<FileRecord>;
  /** The number of the line at which the next record begins. */
  line: () => number;
}

const openNdjson = (maxLength: number): Records => {
  const record = openRecord(maxLength);
  let line = 1;
  return {
    *read(chunk) {
      let start = 0;
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
        record.add(chunk.slice(start, end));
        yield record.take(line);
        line++;
        start = end + 1;
      }
      record.add(chunk.slice(start));
    },
    *end() {
      if (!record.isEmpty()) yield record.take(line);
    },
    line: () => line,
  };
};

const openCsv = (maxLength: number, delimiter: string): Records => {
  const record = openRecord(maxLength);
  let place: Place = 'field start';
  /** A line feed after a carriage return belongs to the same line break, which two chunks may share. */
  let isAfterReturn = false;
  let line = 1;
  let first = 1;

  const take = () => {
    const taken = record.take(first);
    place = 'field start';
    first = line;
    return taken;
  };

  return {
    *read(chunk) {
      let start = 0;
      for (let i = 0; i < chunk.length; i++) {
        const character = chunk.charAt(i);
        const isBreak = character === '\n' || character === '\r';
        const isSecondHalf = character === '\n' && isAfterReturn;
        isAfterReturn = character === '\r';
        if (!isBreak) place = placeAfter(place, character, delimiter);
        else if (place === 'quoted') line += isSecondHalf ? 0 : 1;
        else {
          if (!isSecondHalf) {
            line++;
            record.add(chunk.slice(start, i));
            yield take();
          }
          start = i + 1;
        }
      }
      record.add(chunk.slice(start));
    },
    *end() {
      if (!record.isEmpty()) yield take();
    },
    line: () => first,
  };
};

export const openRecords = (format: ImportFormat, maxLength = MAX_LINE_LENGTH, delimiter = ','): Records =>
  format === 'csv' ? openCsv(maxLength, delimiter) : openNdjson(maxLength);
