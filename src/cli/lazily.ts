/** Argument types of an action, which is a function that returns a promise; `never` for other exports of a module. */
type ArgumentsOf<F> = F extends (...args: infer A) => Promise<void> ? A : never

/** Wraps command actions. Their module is loaded when one of them runs, so that other commands start without it. */
export const lazyCommandActions =
  <M extends object>(load: () => Promise<M>) =>
  <K extends keyof M>(action: K) =>
  async (...args: ArgumentsOf<M[K]>): Promise<void> => {
    const run = (await load())[action] as (...args: ArgumentsOf<M[K]>) => Promise<void>
    await run(...args)
  }
