/** Placeholder: the client of every endpoint. */
export const createClient = (options: { baseUrl: string; apiKey: string }) => ({ baseUrl: options.baseUrl });
