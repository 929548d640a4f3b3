type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops the fields that are undefined, so that an update leaves their columns unchanged. */
export const omitUndefined = <T extends object>(fields: T): WithoutUndefined<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>;
