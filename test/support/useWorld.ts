import { afterAll, beforeAll } from 'vitest'

/** A world that a file's hooks start, to be named before it stands. */
const started = <World extends object>(world: () => World): World =>
  new Proxy({} as World, {
    get: (_, name) => Reflect.get(world(), name),
    set: (_, name, value) => Reflect.set(world(), name, value),
  })

/** Starts a world for a file's tests, before whatever the file does itself, and stops it after that. */
export function useWorld<World extends { stop(): Promise<unknown> }>(
  start: () => Promise<World>,
): World {
  let world: World
  beforeAll(async () => {
    world = await start()
  })
  afterAll(() => world?.stop())
  return started(() => world)
}
