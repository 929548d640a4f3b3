// Cloudflare's prices on the paid plan, beyond the included usage, as of November 2026. From
// developers.cloudflare.com: the pricing pages of Workers, Durable Objects, D1 and Queues.

/** US dollars per million. */
const REQUESTS = 0.3;
const CPU_MS = 0.02;
const OBJECT_REQUESTS = 0.15;
/** Setting an alarm and putting a value count as one row each, and so does every index entry of a row. */
export const ROWS_WRITTEN = 1;
/** The same in D1 and in objects. An index entry that a query looks at is a row. */
const ROWS_READ = 0.001;
const GB_SECONDS = 12.5;
const QUEUE_OPERATIONS = 0.4;
/** A message is written, read and deleted. */
const OPERATIONS_PER_MESSAGE = 3;

/** The Workers Paid plan in US dollars a month, and what it includes of rows (millions) and storage, in D1 and in objects each. */
export const PAID_PLAN = { perMonth: 5, rowsWritten: 50, storedGb: 5 };
/** US dollars for a GB that is stored for a month. */
export const STORED_GB = { d1: 0.75, objects: 0.2 };

/** The memory that is billed while an object is active. */
const OBJECT_GB = 0.128;

/** The average consumption of one call. */
export interface Consumption {
  /** Calls to the gate and the outbox, and alarms. */
  objectRequests: number;
  gateRows: number;
  outboxRows: number;
  /** Of all objects. No call that is priced reads D1. */
  rowsRead: number;
  queueMessages: number;
  cpuMs: number;
  /** Time for which an object is active. */
  objectSeconds: number;
}

/** Returns what reading so many rows in each of a million calls costs, in US dollars. */
export const costOfReads = (rowsRead: number) => rowsRead * ROWS_READ;

/** Returns the cost of a million calls in US dollars, by item. */
export const costOf = (consumption: Consumption) => {
  const { objectRequests, gateRows, outboxRows, rowsRead, queueMessages, cpuMs, objectSeconds } = consumption;
  const parts = {
    requests: REQUESTS,
    cpu: cpuMs * CPU_MS,
    objectRequests: objectRequests * OBJECT_REQUESTS,
    objectDuration: objectSeconds * OBJECT_GB * GB_SECONDS,
    gateRows: gateRows * ROWS_WRITTEN,
    outboxRows: outboxRows * ROWS_WRITTEN,
    rowsRead: costOfReads(rowsRead),
    queue: queueMessages * OPERATIONS_PER_MESSAGE * QUEUE_OPERATIONS,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
};
