import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './failure.ts';

interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Reads a line from the terminal. A secret isn't echoed. */
export const prompt = (
  question: string,
  isSecret: boolean,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string> => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: isSecret ? silent : output, terminal: true });
  // Only now, because until there is an interface, the terminal itself echoes what is typed.
  if (isSecret) output.write(question);
  return new Promise<string>((resolve, reject) => {
    // Ctrl+C and Ctrl+D close it. Closing it after a line has no effect on the promise.
    lines.once('close', () => reject(new CliError('Nothing was entered.')));
    lines.question(isSecret ? '' : question, (line) => {
      resolve(line.trim());
      lines.close();
    });
  }).finally(() => {
    if (isSecret) output.write('\n');
  });
};
