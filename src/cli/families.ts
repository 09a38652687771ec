import type { Command } from 'commander'
import { FAMILIES, type FamilyKey } from '../registry/families.js'
import { addContractCommands } from './contracts/commands.js'
import { addSolanaCommands } from './solana/commands.js'

/** Adds the commands that deploy each family's contracts or program. */
const ADD_COMMANDS: Readonly<Record<FamilyKey, (program: Command) => void>> = {
  evm: addContractCommands,
  solana: addSolanaCommands,
}

export function addFamilyCommands(program: Command): void {
  for (const { key } of FAMILIES) ADD_COMMANDS[key](program)
}
