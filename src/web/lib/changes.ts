const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * What a form sends: the fields whose values differ from one that the record may have, where a missing one is null. Fields
 * that nobody touched are left out, because they may have changed elsewhere in the meantime.
 */
export const changesFrom = <Values extends object>(
  known: Partial<Record<keyof Values, unknown>>[],
  values: Values,
): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) =>
      known.some((record) => !isSame(value, record[name as keyof Values] ?? null)),
    ),
  ) as Partial<Values>;
