// The main process: checks the license, and does what needs one. The window only shows the outcome.
import { hostname } from 'node:os';
import { license } from './license.js';
import { openWindow } from './window-host.js';

const PLANETS = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune'];

/** What the window gets to see. */
const view = ({ valid, code, machine, machines, offlineUntil }) => ({
  valid,
  code,
  machine,
  machines,
  offlineUntil,
  canExport: license.has('export'),
});

// In Electron, after app.whenReady(), before which net.fetch can't be used.
const window = await openWindow({
  'license:state': () => view(license.state),
  'license:activate': async (key, replace) =>
    view(await license.activate(key ?? undefined, { name: hostname(), replace })),
  'license:deactivate': async () => view(await license.deactivate()),
  // The feature itself asks the license, so that a changed window can't get around it.
  export: () => (license.has('export') ? PLANETS.join('\n') : null),
});

console.log(`Window: ${window.url}`);

license.onChange((state) => window.send('license:changed', view(state)));
await license.start();

const quit = () => {
  window.close();
  void license.stop();
};
process.once('SIGINT', quit);
process.once('SIGTERM', quit);
