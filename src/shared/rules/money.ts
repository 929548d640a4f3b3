/** Payment providers count these in hundredths, although the currencies have none. */
const IN_HUNDREDTHS = new Set(['ISK', 'UGX']);

/** Shows an amount in minor units, without decimals that are zero. */
export const formatMoney = (minorUnits: number, currency: string): string => {
  const style = { style: 'currency', currency } as const;
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en-US', style).resolvedOptions();
  const digits = IN_HUNDREDTHS.has(currency.toUpperCase()) ? 2 : maximumFractionDigits;
  const amount = minorUnits / 10 ** digits;
  const shown = Number.isInteger(amount) ? 0 : digits;
  return new Intl.NumberFormat('en-US', {
    ...style,
    minimumFractionDigits: shown,
    maximumFractionDigits: shown,
  }).format(amount);
};
