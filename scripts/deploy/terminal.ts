import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { fail } from './fail.ts';

const isTerminal = () => process.stdin.isTTY && process.stdout.isTTY;

/** Asks a question. What is typed isn't shown if it is secret. */
const ask = async (question: string, isSecret = false): Promise<string> => {
  process.stdout.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stdout,
    terminal: isSecret,
  });
  try {
    return (await terminal.question('')).trim();
  } finally {
    terminal.close();
    if (isSecret) process.stdout.write('\n');
  }
};

/** Asks for a word, and stops the deployment if another one is typed. */
export const confirm = async (question: string, word: string, isAgreed: boolean): Promise<void> => {
  if (isAgreed) return;
  if (!isTerminal()) fail('Nothing was changed. Pass --yes where nobody can be asked.');
  if ((await ask(`${question} Type ${word} to go on: `)) !== word) fail('Nothing was changed.');
};

const MIN_LENGTH = 12;

/** Returns the passphrase of the recovery file, from LATCHKEY_PASSPHRASE or from the terminal. */
export const askPassphrase = async (file: string, isNew: boolean): Promise<string> => {
  const given = process.env['LATCHKEY_PASSPHRASE'];
  if (!given && !isTerminal()) fail(`Set LATCHKEY_PASSPHRASE to the passphrase of ${file}.`);
  const passphrase =
    given ?? (await ask(isNew ? `A passphrase for ${file}: ` : `The passphrase of ${file}: `, true));
  if (!isNew) return passphrase;
  if (passphrase.length < MIN_LENGTH) fail(`The passphrase needs at least ${MIN_LENGTH} characters.`);
  if (!given && (await ask('The same again: ', true)) !== passphrase)
    fail('The passphrases differ. Nothing was changed.');
  return passphrase;
};
