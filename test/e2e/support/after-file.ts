// What ends with a test file. Files of a worker share its modules, so a hook in a module would run for one file only.

const cleanUps: (() => Promise<unknown>)[] = [];

/** Runs a function when the test file has ended. */
export const afterFile = (cleanUp: () => Promise<unknown>): void => {
  cleanUps.push(cleanUp);
};

export const endFile = () => Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
