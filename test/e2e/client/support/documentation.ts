import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../../..');

/** Returns the first block of JavaScript in a page that has the text. */
export const codeOf = (file: string, text: string): string => {
  const markdown = readFileSync(join(ROOT, file), 'utf8');
  const blocks = [...markdown.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const found = blocks.find((code) => code.includes(text));
  if (!found) throw new Error(`${file} has no ${text}.`);
  return found;
};
