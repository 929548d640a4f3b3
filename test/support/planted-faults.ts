// Vitest global setup: keeps the faults that tests plant out of the terminal. The Workers runtime reports every
// exception that leaves an object, also one that a test expects. All other reports are printed.
import { relative } from 'node:path';

/** Reports of what tests provoke in the code under test, or in the runtime itself. */
const PROVOKED = [
  // `kill` and its like.
  /jsg\.Error: killed by a test/,
  // Objects restart after a restore, an erasure, and a failed write.
  /The (?:object|gate|branch) (?:restarts with the restored rows|could not write: )/,
  /The account was erased\./,
  // Ports on which nobody listens.
  /Connection refused|Network connection lost\.$/m,
  // Calls that the other side of a move refuses.
  /Error: (?:The account has not moved to this gate|This gate answers calls already)\./,
  // A page of a stream of lines that fails.
  /Error: The stream broke off\./,
  // A trigger that refuses a row.
  /Error: full: SQLITE_CONSTRAINT/,
  // `withoutTable`.
  /Error: no such table: /,
  // An alarm that runs while a test's clock is ahead of the runtime's.
  /SQLite alarm handler canceled with requestScheduledAlarm/,
];

const ERROR = /; stack = (\w*Error: .*)(?:\n\s+at .*?\(?(\/[^\s()]+?):\d+:\d+\)?)?/;

/** Errors that the code of a test has thrown. The caller of the object reports them again, without their stack. */
const thrownByTests = new Set<string>();

const isPlanted = (report: string): boolean => {
  const [, error = '', file] = ERROR.exec(report) ?? [];
  if (file && relative(process.cwd(), file).startsWith('test/')) thrownByTests.add(error);
  return thrownByTests.has(error) || PROVOKED.some((pattern) => pattern.test(report));
};

const isReport = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:uncaught exception; |exception = |NOSENTRY )/.test(text);

export default () => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (text: unknown, ...rest: unknown[]) =>
      (isReport(text) && isPlanted(text)) || write(text, ...rest);
  }
};
