// `npm run conformance` writes the files of conformance/. With --check, it says which of them aren't up to date.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chainCases } from './cases/chains.ts';
import { fileCases } from './cases/files.ts';
import { fingerprintCases } from './cases/fingerprints.ts';
import { spellingCases } from './cases/spellings.ts';
import { tokenCases } from './cases/tokens.ts';
import { clockSequences } from './sequences/clock.ts';
import { fileSequences } from './sequences/files.ts';
import { leaseSequences } from './sequences/leases.ts';
import { networkSequences } from './sequences/network.ts';
import { programSequences } from './sequences/programs.ts';
import { proxySequences } from './sequences/proxies.ts';
import { renewalSequences } from './sequences/renewals.ts';
import { sellerSequences } from './sequences/seller.ts';
import { storeSequences } from './sequences/stores.ts';
import { sequenceFile } from './sequences/words.ts';
import { formatJson } from './format.ts';

const folder = join(import.meta.dirname, '../../conformance');
const files: Record<string, unknown> = {
  'tokens.json': await tokenCases(),
  'key-chains.json': await chainCases(),
  'key-spellings.json': spellingCases(),
  'fingerprints.json': fingerprintCases(),
  'offline-files.json': await fileCases(),
  'sequences/clock.json': sequenceFile('The machine’s clock is wrong, and is put right or set back.', clockSequences),
  'sequences/files.json': sequenceFile('Offline files, alone and beside answers.', fileSequences),
  'sequences/leases.json': sequenceFile('Floating licenses, whose seats lapse.', leaseSequences),
  'sequences/network.json': sequenceFile('Outages, and refusals of the service.', networkSequences),
  'sequences/programs.json': sequenceFile('Programs and machines that start, stop, sleep, and leave.', programSequences),
  'sequences/proxies.json': sequenceFile('Somebody else answers, or changes answers.', proxySequences),
  'sequences/renewals.json': sequenceFile('A license ends, and is renewed in time or late.', renewalSequences),
  'sequences/seller.json': sequenceFile('What the seller does with a license that is in use.', sellerSequences),
  'sequences/stores.json': sequenceFile('The store fails, is lost, or has something of before.', storeSequences),
};

const read = (name: string): string | null => {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return null;
  }
};

const texts = new Map(Object.entries(files).map(([name, content]) => [name, `${formatJson(content)}\n`]));
const changed = [...texts].filter(([name, text]) => read(name) !== text);
const others = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.json') && !texts.has(name));

if (process.argv.includes('--check')) {
  const names = [...changed.map(([name]) => name), ...others].map((name) => `conformance/${name}`);
  if (names.length > 0) {
    console.error(`Not up to date: ${names.join(', ')}. Run npm run conformance.`);
    process.exitCode = 1;
  }
} else {
  for (const [name, text] of changed) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of others) rmSync(join(folder, name));
}
