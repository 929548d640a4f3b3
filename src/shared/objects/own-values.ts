// Values that a Durable Object stores beside its tables and that are about itself, or about what is under way: where it is, and
// what it has still to do elsewhere. They are as true after a restore as before, so no backup has them, and no restore changes them.

const names = new Set<string>();

/** Returns the name of such a value. */
export const ownValue = (name: string): string => {
  names.add(name);
  return name;
};

export const isOwnValue = (name: string): boolean => names.has(name);
