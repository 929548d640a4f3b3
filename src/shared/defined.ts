type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops the fields that are undefined, so that an update leaves them as they are. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
