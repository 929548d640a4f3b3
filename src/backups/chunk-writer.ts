import type { Table } from '../db/tables.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { type Bucket, writeSealed } from './bucket.ts';
import { type StoredValue, type BackupLine, tally } from './lines.ts';
import { chunkName, chunkOwner, type Running } from './state.ts';

/** What a step holds in memory. D1 takes a line of rows as one value, of at most 2 MB. */
const CHUNK_LENGTH = 4_000_000;
const LINE_LENGTH = 400_000;
/** Each line of rows is a query when it comes in again. */
const CHUNK_LINES = 300;

/** Collects lines into chunks, and writes each chunk when it is full. */
export const openChunkWriter = (bucket: Bucket, state: Running) => {
  let lines: string[] = [];
  let length = 0;

  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    const number = state.chunks.length;
    // Random, so that a step that dies or comes too late changes no chunk of the step that is made in its place.
    const name = `${String(number).padStart(6, '0')}-${randomBase62(8)}`;
    const text = lines.join('\n');
    const written = await writeSealed(bucket, chunkName(state.id, name), chunkOwner(state.id, number), text);
    // Only now: whoever goes on after a failure still has the lines, which are counted.
    lines = [];
    length = 0;
    state.chunks.push(name);
    state.bytes += written?.size ?? 0;
  };

  const add = async (line: BackupLine): Promise<void> => {
    const text = JSON.stringify(line);
    if (length + text.length > CHUNK_LENGTH || lines.length === CHUNK_LINES) await flush();
    tally(state.counts, line);
    lines.push(text);
    length += text.length;
  };

  return {
    add,
    flush,

    /** Adds a page of rows, in lines that are small enough to come in again. */
    addRows: async (
      database: string,
      { name: table, columns }: Table,
      rows: StoredValue[][],
    ): Promise<void> => {
      let part: StoredValue[][] = [];
      let partLength = 0;
      const addPart = async () => {
        if (part.length > 0) await add({ database, table, columns, rows: part });
        part = [];
        partLength = 0;
      };
      for (const row of rows) {
        const rowLength = JSON.stringify(row).length;
        if (partLength + rowLength > LINE_LENGTH) await addPart();
        part.push(row);
        partLength += rowLength;
      }
      await addPart();
    },
  };
};

export type ChunkWriter = ReturnType<typeof openChunkWriter>;
