interface Mocker {
  constructor: { pendingIds: unknown[] };
  getDependencyMockByUrl: (url: string) => unknown;
  moduleRunner: {
    transport: {
      invoke: (name: string, data: [string, string | undefined, { cached?: boolean }?]) => unknown;
    };
  };
}

const ARE_KNOWN = Symbol.for('latchkey.modules-are-known');

/**
 * Lets a runtime import a module whose text it has without asking for it. Cloudflare's plugin sends a request to an object for
 * each import, which took most of the time that a file needs to import the service. It isn't documented, but an update that
 * changes it fails here.
 */
export const importKnownModules = (): void => {
  if (ARE_KNOWN in globalThis) return;
  Object.defineProperty(globalThis, ARE_KNOWN, { value: true });
  const mocker = Reflect.get(globalThis, '__vitest_mocker__') as Mocker;
  const { transport } = mocker.moduleRunner;
  const ask = transport.invoke;
  const isMocked = (url: string) =>
    mocker.constructor.pendingIds.length > 0 || mocker.getDependencyMockByUrl(url) !== undefined;
  transport.invoke = (name, data) => {
    const [url, , options] = data;
    const isKnown = name === 'fetchModule' && options?.cached === true && !isMocked(url);
    return isKnown ? Promise.resolve({ cache: true }) : ask(name, data);
  };
};
