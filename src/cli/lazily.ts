/** Arguments of a function; never for other exports. */
type ArgumentsOf<F> = F extends (...args: infer A) => Promise<void> ? A : never

/** Wraps actions whose module is loaded when one of them runs, so that other commands start without it. */
export const lazyCommandActions =
  <M extends object>(load: () => Promise<M>) =>
  <K extends keyof M>(action: K) =>
  async (...args: ArgumentsOf<M[K]>): Promise<void> => {
    const run = (await load())[action] as (...args: ArgumentsOf<M[K]>) => Promise<void>
    await run(...args)
  }
