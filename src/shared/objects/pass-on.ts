/**
 * Returns what another object has answered, without the `Symbol.dispose` that the runtime adds to an answer. Passed on, it would keep
 * both calls open until the caller disposes of the answer, or it is collected as garbage.
 */
export const passOn = async <T>(answer: T | Promise<T>): Promise<T> => structuredClone(await answer);
