#!/usr/bin/env node
// Prints the planets for everybody. Exports them as CSV with a license that has the entitlement "export".
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { license } from './license.js';
import { explain } from './messages.js';

const PLANETS = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune'];
const USAGE = 'Usage: orrery [show | export | status | activate LICENSE_KEY [--replace ID] | deactivate]';

const DAY_MS = 86_400_000;
const REFRESH_TIMEOUT_MS = 2_000;

/** Prints what the user should know, and returns the exit code. */
const report = (state) => {
  console.error(explain(state));
  return state.valid ? 0 : 1;
};

/** `start` refreshes in the background, but a command ends sooner. So once a day, the command waits for it. */
const finish = async () => {
  const { valid, checkedAt } = license.state;
  if (valid && checkedAt && Date.now() - checkedAt.getTime() > DAY_MS)
    await Promise.race([license.refresh(), setTimeout(REFRESH_TIMEOUT_MS, null, { ref: false })]);
  await license.stop();
};

/** Each command returns the exit code. */
const commands = {
  show: async () => {
    console.log(PLANETS.join('\n'));
    return 0;
  },
  export: async () => {
    await license.start();
    if (!license.has('export')) {
      console.error(license.state.valid ? 'Your license does not include exports.' : explain(license.state));
      return 1;
    }
    console.log(['position,planet', ...PLANETS.map((planet, index) => `${index + 1},${planet}`)].join('\n'));
    return 0;
  },
  status: async () => report(await license.start()),
  activate: async (key, replace) => report(await license.activate(key, { name: hostname(), replace })),
  deactivate: async () => {
    const { code } = await license.deactivate();
    console.error(
      code === 'deactivated' ? 'The seat is free.' : 'Could not release the seat. Go online first.',
    );
    return code === 'deactivated' ? 0 : 1;
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { replace: { type: 'string' } },
});
const [name = 'show', key = ''] = positionals;
const command = Object.hasOwn(commands, name) ? commands[name] : null;
if (!command || (name === 'activate' && key === '')) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  process.exitCode = await command(key, values.replace);
  await finish();
}
