// An application for machines without a network. Its license is a file that somebody carries there on a stick.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLicense, machineFingerprint } from '@latchkey/client/node';
import keys from './latchkey-keys.json' with { type: 'json' };
import service from './latchkey.json' with { type: 'json' };

const PRODUCT = 'orrery';
const { ORRERY_HOME, ORRERY_MACHINE_ID } = process.env;

/** A user may pass an id where the machine has none, as in a container. Elsewhere, one file would do for all machines. */
const findFingerprint = () => {
  try {
    return machineFingerprint(PRODUCT);
  } catch (error) {
    if (!ORRERY_MACHINE_ID) throw error;
    return ORRERY_MACHINE_ID;
  }
};
const fingerprint = findFingerprint();

const license = createLicense({
  ...service,
  keys,
  product: PRODUCT,
  fingerprint,
  dir: ORRERY_HOME ?? join(homedir(), '.orrery'),
});

const report = ({ valid, code, offlineUntil }) => {
  console.log(valid ? `Licensed until ${offlineUntil?.toISOString()}` : `Not licensed (${code})`);
  process.exitCode = valid ? 0 : 1;
};

const [command, file = ''] = process.argv.slice(2);
if (command === 'request') {
  // What the customer sends to the seller.
  console.log(JSON.stringify({ product: PRODUCT, fingerprint }));
} else if (command === 'load') {
  // Whoever loads a file wants its license, even if the machine has another one that is still good.
  report(await license.loadFile(readFileSync(file, 'utf8'), { replace: true }));
} else {
  report(await license.start());
}
await license.stop();
