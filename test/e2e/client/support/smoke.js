// Runs in each runtime, with only the core of the package: activates, restarts from the store, and refreshes.

/** @param {typeof import('../../../../src/client/index.ts').createLicense} createLicense */
export const smoke = async (createLicense, { licenseKey, ...options }) => {
  let stored = null;
  const store = {
    get: async () => stored,
    set: async (text) => {
      stored = text;
    },
  };
  const steps = [];
  const note = ({ valid, code, source }) => steps.push([valid, code, source].join(' '));
  const start = () => createLicense({ ...options, store });

  const license = start();
  note(await license.start());
  note(await license.activate(licenseKey, { name: 'Smoke' }));
  await license.stop();
  const restarted = start();
  note(await restarted.start());
  note(await restarted.refresh());
  note(await restarted.deactivate());
  await restarted.stop();
  return steps;
};
