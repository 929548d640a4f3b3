/**
 * Returns what another object has answered. The runtime adds to an answer a method that ends its call. Passed on, that method would
 * keep the calls to both objects open until the garbage of the caller is collected.
 */
export const passOn = async <T>(answer: T | Promise<T>): Promise<T> => structuredClone(await answer);
