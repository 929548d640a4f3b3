/** A promise of the service that the simulation has seen broken. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** The message is only built for a broken promise. */
export type Check = (isKept: boolean, message: () => string) => void;
