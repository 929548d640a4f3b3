#!/usr/bin/env node
// Prints the planets for everybody. Exports them as CSV with a license that has the entitlement "export".
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { isAllowedHere, license } from './license.js';
import { explain } from './messages.js';

const PLANETS = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune'];
const USAGE = 'Usage: orrery [show | export | status | activate LICENSE_KEY [--replace ID] | deactivate]';

/** Prints what the user should know, and returns the exit code. */
const report = (state) => {
  console.error(explain(state));
  return state.valid ? 0 : 1;
};

/** Each command returns the exit code. */
const commands = {
  show: async () => {
    console.log(PLANETS.join('\n'));
    return 0;
  },
  export: async () => {
    await license.start();
    if (!license.has('export') || !isAllowedHere(license.state)) {
      console.error(license.state.valid ? 'Your license does not include exports.' : explain(license.state));
      return 1;
    }
    console.log(['position,planet', ...PLANETS.map((planet, index) => `${index + 1},${planet}`)].join('\n'));
    return 0;
  },
  status: async () => report(await license.start()),
  activate: async (key, replace) => {
    const state = await license.activate(key, { name: hostname(), replace });
    if (!state.valid || isAllowedHere(state)) return report(state);
    await license.deactivate();
    console.error('ORRERY_MACHINE_ID needs a floating license. Without it, keep ~/.orrery on a volume.');
    return 1;
  },
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
  // Waits for a verify that has been sent, which happens once a day.
  await license.stop();
}
