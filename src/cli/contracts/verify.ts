import type { Hex } from 'viem'
import { communityPaymentsBytecode, hubBytecode, spokeBytecode } from '../../chains/evm/contracts/index.js'
import { appCreation, paymentsCreation } from '../../chains/evm/deployment/creation.js'
import { paint, printJson } from '../output.js'
import type { ShowOptions } from './contracts.js'
import { openNetwork, readSides } from './network.js'

/**
 * `clusterd contracts verify`: compares the code of each contract with what our creation code gives on its chain, byte
 * for byte, immutables included; code 1 where one is not ours. Prints what explorers ask for beside the compiler's
 * input, which `npm run contracts -- --standard-input <file>` writes.
 */
export async function verify(options: ShowOptions): Promise<void> {
  const open = openNetwork(options)
  const sides = await readSides(open)
  const hubEid = open.wishes[0]!.eid
  const found = sides.flatMap(({ wishes, state }) => {
    const [app, contract, bytecode] =
      wishes.role === 'hub'
        ? [appCreation(wishes, hubEid), 'src/Hub.sol:Hub', hubBytecode]
        : [appCreation(wishes, hubEid), 'src/Spoke.sol:Spoke', spokeBytecode]
    const one = (address: Hex, code: string, of: { contract: string; made: Hex; bytecode: Hex }) => ({
      ...{ chain: wishes.label, contract: of.contract, address, code },
      constructorArguments: `0x${of.made.slice(of.bytecode.length)}`,
    })
    const ofApp = one(state.app.address, state.app.code, { contract, made: app.code, bytecode })
    if (!state.payments) return [ofApp]
    const made = { contract: 'src/CommunityPayments.sol:CommunityPayments', made: paymentsCreation(wishes).code }
    return [ofApp, one(state.payments.address, state.payments.code, { ...made, bytecode: communityPaymentsBytecode })]
  })
  if (options.json) printJson(found)
  else
    for (const { chain, contract, address, code, constructorArguments } of found)
      console.log(
        `${code === 'ours' ? paint('green', 'ok  ') : paint('bold', 'DIFF')}  ${chain}, ${contract} at ${address}: ${code}\n        ${paint('dim', constructorArguments)}`,
      )
  if (found.some(({ code }) => code !== 'ours')) process.exitCode = 1
}
