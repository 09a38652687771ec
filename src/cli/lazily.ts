/**
 * Returns a function that makes a command's action from an exported function of a module, by the function's name. The
 * module is loaded when the action runs, so that other commands start faster. The exported function gets the command's
 * arguments, its options, and then `more`.
 */
export const createLazyCommandActions =
  <M extends object>(load: () => Promise<M>) =>
  (action: keyof M, ...more: readonly unknown[]) =>
  async (...args: unknown[]): Promise<void> => {
    const run = (await load())[action] as (...args: unknown[]) => Promise<void>
    // the last argument is commander's command
    await run(...args.slice(0, -1), ...more)
  }
