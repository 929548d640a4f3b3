/** What stops a deployment. Its message says what to do. */
export class DeployError extends Error {}

export const fail = (message: string): never => {
  throw new DeployError(message);
};
