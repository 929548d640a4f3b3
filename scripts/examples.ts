// `npm run examples`: sends the examples of the API reference to the service, and keeps what it answers.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf, REQUESTS } from './reference/requests.ts';

const FILE = join(import.meta.dirname, 'reference/answers.json');
const TESTS = ['run', '--project', 'worker', 'test/openapi/examples.test.ts', '--silent=false'];

// The tests fail where an answer differs from the kept one, which is why this runs. So what they print is shown only if
// answers are missing.
const { stdout, stderr } = spawnSync('vitest', TESTS, { encoding: 'utf8', maxBuffer: 1e8 });
const printed = [...stdout.matchAll(/EXAMPLE (\{.*\})$/gm)].map(
  ([, line = '']) => JSON.parse(line) as { name: string },
);
const answers = new Map(printed.map(({ name, ...answer }) => [name, answer]));
const missing = REQUESTS.map(nameOf).filter((name) => !answers.has(name));
if (missing.length > 0) {
  console.error(`${stdout}${stderr}\nNo answer came for ${missing.join(', ')}.`);
  process.exit(1);
}
const kept = Object.fromEntries(REQUESTS.map(nameOf).map((name) => [name, answers.get(name)]));
writeFileSync(FILE, JSON.stringify(kept, null, 2));
spawnSync('oxfmt', [FILE], { stdio: 'inherit' });
