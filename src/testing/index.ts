/** The local world as a library: `import { startStack, until } from 'clusterd/testing'`. */
export { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './anvil.js'
export type { DaemonEnvironment, DaemonProcess } from './daemonProcess.js'
export type { LocalChain } from './localChain.js'
export { createDatabase, dropDatabase, type Postgres, type PostgresOptions, startPostgres } from './postgres.js'
export { type PostgresHandle, type Stack, type StackOptions, startStack } from './stack.js'
export { type EventItem, type StatusAnswer, type UntilOptions, until } from './until.js'
export {
  type EvmAccount,
  readWorld,
  type Seed,
  type SolanaAccount,
  type World,
  type WorldHub,
  type WorldNetwork,
  type WorldSolana,
  type WorldSpoke,
} from './world.js'
