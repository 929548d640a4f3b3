/** The short name of an endpoint, where its URL would be too long. */
export const hostOf = (url: string): string => new URL(url).hostname;
