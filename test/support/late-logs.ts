interface Rpc {
  getCountOfFailedTests: () => Promise<number>;
}

const ARE_SENT = Symbol.for('latchkey.late-logs-are-sent');
const INTERVAL_MS = 1_000;

/**
 * Sends Vitest a message every second, so that a file ends even if an object logs a line after its last test. Cloudflare's plugin
 * sends such a line only with the next message, and Vitest waits for it before it ends the file. None of this is documented, but
 * an update that changes it makes test/system/late-logs.test.ts hang.
 */
export const sendLateLogs = (): void => {
  if (ARE_SENT in globalThis) return;
  Object.defineProperty(globalThis, ARE_SENT, { value: true });
  const { rpc } = Reflect.get(globalThis, '__vitest_worker__') as { rpc: Rpc };
  setInterval(() => void rpc.getCountOfFailedTests().catch(() => {}), INTERVAL_MS);
};
