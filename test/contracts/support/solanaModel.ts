import type { TransactionInstruction } from '@solana/web3.js'
import { claim, pay, payToken, refuse, release } from './solanaModelCommunities.js'
import {
  acceptAdmin,
  initialize,
  proposeAdmin,
  reclaim,
  refund,
  register,
  setAuthorities,
  settle,
  withdraw,
} from './solanaModelNames.js'
import {
  type Addresses,
  type Books,
  type Chain,
  type Effect,
  type Rule,
  readCall,
} from './solanaModelParts.js'

/**
 * A model of the registrar, written from its description, which shares no code with the program: which instructions
 * succeed, and what they move. Accounts are named by their base58 address, words by their hex.
 */

/** Rules by the first 8 bytes of the data. */
const RULES: Readonly<Record<string, Rule>> = {
  afaf6d1f0d989bed: initialize,
  d37c430fd3c2b2f0: register,
  af2ab957908366d4: settle,
  '0260b7fb3fd02e2e': refund,
  '9cfe993a00f0d3b4': reclaim,
  b712469c946da122: withdraw,
  '7cfe2cf0c546be6b': setAuthorities,
  '79d6c7d4572775ea': proposeAdmin,
  '702a2d5a74b50daa': acceptAdmin,
  '7f57c7b9240c97fb': pay,
  ce3e6a3e220b439e: payToken,
  f5fbc21603665d14: refuse,
  '372c7d5c1673a6a1': release,
  ad95b5e053307a44: claim,
}

export type SolanaModel = ReturnType<typeof createSolanaModel>

/** @param start the books before the first instruction, which instructions that go through change */
export function createSolanaModel(start: Books, known: Addresses, chain: Chain) {
  const scope = { books: start, known, chain }
  const programs = [known.system, known.program]
  return {
    books: start,

    /** Effect of an instruction; undefined where it is refused. */
    predict(call: TransactionInstruction): Effect | undefined {
      const rule = RULES[call.data.toString('hex', 0, 8)]
      const isOpen = start.isInitialized || rule === initialize
      return rule && isOpen ? rule(scope, readCall(call, programs)) : undefined
    },
  }
}
