const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * What a form sends: the fields whose values differ from those it opened with, where a missing one is null. Fields
 * that nobody touched are left out, because they may have changed elsewhere in the meantime.
 */
export const changesFrom = <Values extends object>(
  opened: Partial<Record<keyof Values, unknown>>,
  values: Values,
): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !isSame(value, opened[name as keyof Values] ?? null)),
  ) as Partial<Values>;
