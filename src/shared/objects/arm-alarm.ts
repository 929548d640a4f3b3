/** Sets the alarm, unless an earlier one is set. */
export const armAlarm = async (
  storage: Pick<DurableObjectStorage, 'getAlarm' | 'setAlarm'>,
  dueMs: number,
): Promise<void> => {
  const armedMs = (await storage.getAlarm()) ?? Infinity;
  if (dueMs < armedMs) await storage.setAlarm(dueMs);
};
