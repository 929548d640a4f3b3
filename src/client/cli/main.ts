/** Placeholder: runs a command and returns the exit status. */
export const main = async (_args: string[]): Promise<number> => 2;
