import { logError } from '../shared/text/log.ts';

export const NDJSON = 'application/x-ndjson';

const encoder = new TextEncoder();

const encode = (values: object[]) =>
  encoder.encode(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

/**
 * Streams pages of values, a line for each. The next page is only read when the client has taken the last one. If a page
 * fails, the stream breaks off. The first page is awaited, so that an early error can still become an error response.
 */
export const streamLines = async (
  pages: AsyncGenerator<object[]>,
  log: { event: string; accountId: string },
): Promise<ReadableStream<Uint8Array>> => {
  let next = await pages.next();
  return new ReadableStream(
    {
      pull: async (controller) => {
        try {
          if (next.done) return controller.close();
          controller.enqueue(encode(next.value));
          next = await pages.next();
        } catch (error) {
          logError(log.event, error, { account_id: log.accountId });
          // The error itself could show a query, and the runtime logs it.
          controller.error(new Error('The stream broke off.'));
        }
      },
      cancel: async () => {
        await pages.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
};
