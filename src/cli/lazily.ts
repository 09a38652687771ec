/**
 * Creates actions of commands. The module with the actions is loaded when one of them runs, so that other commands
 * start faster. An action gets the command's arguments, its options, and then `more`.
 */
export const lazyCommandActions =
  <M extends object>(load: () => Promise<M>) =>
  (action: keyof M, ...more: readonly unknown[]) =>
  async (...args: unknown[]): Promise<void> => {
    const run = (await load())[action] as (...args: unknown[]) => Promise<void>
    // the last argument is commander's command
    await run(...args.slice(0, -1), ...more)
  }
