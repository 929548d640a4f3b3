// Reads an export that continues where an answer ends. The dashboard and the tool share it.

/** Answers in a row that bring nothing new. */
const MAX_ATTEMPTS = 8;

/** Returns the lines of a stream. What follows the last line break is not a whole line. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let rest = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    // A stream that broke off can't be cancelled.
    reader.cancel().catch(() => {});
  }
}

/** Lines that are in the file, up to a cursor or the end. */
export interface ExportPart {
  lines: string[];
  /** The numbers of lines by type. Only the last part has them. */
  counts: Record<string, number> | null;
}

/** The first line of an export that isn't one of its things. */
const MARK = /^\{"type":"(?:cursor|end)"/;

/**
 * Reads an export to its end. `open` starts an answer after a cursor, and `wait` returns once it makes sense to try again after
 * an error, or throws it. Lines that no cursor has confirmed are read again. An error that lasts is thrown in the end.
 */
export async function* readExport(
  open: (cursor: string | null) => Promise<ReadableStream<Uint8Array>>,
  wait: (error: unknown, attempt: number) => Promise<void>,
): AsyncGenerator<ExportPart> {
  let cursor: string | null = null;
  /** Why the last attempts have brought nothing new. */
  let failure: unknown;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    let lines: string[] = [];
    try {
      for await (const line of linesOf(await open(cursor))) {
        lines.push(line);
        if (!MARK.test(line)) continue;
        const mark = JSON.parse(line) as { cursor?: string; counts?: Record<string, number> };
        if (mark.cursor === undefined) return yield { lines, counts: mark.counts ?? {} };
        yield { lines: lines.slice(0, -1), counts: null };
        ({ cursor } = mark);
        lines = [];
        attempt = 0;
        failure = undefined;
      }
    } catch (error) {
      failure = error;
      if (attempt < MAX_ATTEMPTS) await wait(error, Math.max(1, attempt));
    }
  }
  // A stream that broke off throws a TypeError, which tells a reader nothing.
  if (failure !== undefined && !(failure instanceof TypeError)) throw failure;
  throw new Error('The export was cut off.', { cause: failure });
}
