import type { Command } from 'commander'
import { FAMILIES, type FamilyKey } from '../registry/families.js'
import { addContractCommands } from './contracts/commands.js'
import { addSolanaCommands } from './solana/commands.js'

/** Commands that bring each family's contracts or program onto its chains. */
const ADD_COMMANDS: Readonly<Record<FamilyKey, (program: Command) => void>> = {
  evm: addContractCommands,
  solana: addSolanaCommands,
}

export function addFamilyCommands(program: Command): void {
  for (const { key } of FAMILIES) ADD_COMMANDS[key](program)
}
