import type { ChainFamilyKey } from '../registry/families.js'
import { evmCommands } from './contracts/commands.js'
import type { FamilyCommands } from './family.js'
import { solanaCommands } from './solana/commands.js'

/** The commands of each chain family. */
export const FAMILY_COMMANDS: Readonly<Record<ChainFamilyKey, FamilyCommands>> = {
  evm: evmCommands,
  solana: solanaCommands,
}
