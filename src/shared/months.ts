/** The same day and time some months on, or the month's last day where it has no such day. */
export const addMonths = (ms: number, months: number): number => {
  const from = new Date(ms);
  const year = from.getUTCFullYear();
  const month = from.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(year, month, day) + (ms - Date.UTC(year, from.getUTCMonth(), from.getUTCDate()));
};
