/** The name by which an endpoint goes where its whole address is too long. */
export const hostOf = (url: string): string => new URL(url).hostname;
