import { vi } from 'vitest';

interface ModuleNode {
  id: string;
  evaluated: boolean;
  exports: unknown;
  promise: unknown;
}

/** Vitest's state of this runtime. It isn't documented, but an update that changes it fails here. */
const { evaluatedModules } = Reflect.get(globalThis, '__vitest_worker__') as {
  evaluatedModules: { idToModuleMap: Map<string, ModuleNode> };
};

const isLibrary = ({ id }: ModuleNode) => /\/node_modules\/|^\0?cloudflare:/.test(id);

/**
 * Lets the next imports evaluate the modules of the service and its tests again. Libraries are kept, because they keep no state,
 * and would take half of the time. `cloudflare:test` is kept as well: it imports the Worker, which many files don't need.
 */
export const resetModules = () => {
  const libraries = [...evaluatedModules.idToModuleMap.values()].filter(isLibrary);
  const evaluated = libraries.map((node) => ({
    evaluated: node.evaluated,
    exports: node.exports,
    promise: node.promise,
  }));
  vi.resetModules();
  for (const [i, node] of libraries.entries()) Object.assign(node, evaluated[i]);
};
