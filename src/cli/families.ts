import type { ChainFamilyKey } from '../registry/families.js'
import { evmCommands } from './contracts/commands.js'
import type { ChainFamilyCommands } from './family.js'
import { solanaCommands } from './solana/commands.js'

/** The commands of each chain family. */
export const CHAIN_FAMILY_COMMANDS: Readonly<Record<ChainFamilyKey, ChainFamilyCommands>> = {
  evm: evmCommands,
  solana: solanaCommands,
}
