import type { ChainFamilyKey } from '../registry/families.js'
import { addContractCommands } from './contracts/commands.js'
import type { ChainFamilyCommands } from './family.js'
import { addSolanaCommands } from './solana/commands.js'
import { generateSolanaRelayerKey } from './solana/madeKey.js'

/** Commands, and generator of a relayer's key, by chain family. */
export const CHAIN_FAMILY_COMMANDS: Readonly<Record<ChainFamilyKey, ChainFamilyCommands>> = {
  evm: { add: addContractCommands },
  solana: { add: addSolanaCommands, makeKey: generateSolanaRelayerKey },
}
