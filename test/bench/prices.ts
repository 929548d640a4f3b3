// Cloudflare's published prices on the paid plan, beyond what is included, as of November 2026. From
// developers.cloudflare.com: "Workers › Platform › Pricing" and "Durable Objects › Platform › Pricing".

/** US dollars for a million. */
const REQUESTS = 0.3;
const CPU_MS = 0.02;
const OBJECT_REQUESTS = 0.15;
/** An alarm that is set and a value put are a row each; so is every index that a row is in. */
const ROWS_WRITTEN = 1;
const GB_SECONDS = 12.5;

/** What an object is billed for while it is in memory. */
const OBJECT_GB = 0.128;

/** What one verify takes, on average. */
export interface Consumption {
  /** Calls of the gate, of the outbox, and alarms. */
  objectRequests: number;
  gateRows: number;
  outboxRows: number;
  cpuMs: number;
  /** That an object is awake for it. */
  objectSeconds: number;
}

/** US dollars for a million verifies, by what they are paid for. */
export const costOf = ({ objectRequests, gateRows, outboxRows, cpuMs, objectSeconds }: Consumption) => {
  const parts = {
    requests: REQUESTS,
    cpu: cpuMs * CPU_MS,
    objectRequests: objectRequests * OBJECT_REQUESTS,
    objectDuration: objectSeconds * OBJECT_GB * GB_SECONDS,
    gateRows: gateRows * ROWS_WRITTEN,
    outboxRows: outboxRows * ROWS_WRITTEN,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
};
