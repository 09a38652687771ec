import { encodeAbiParameters, encodeDeployData, type Hex, keccak256 } from 'viem'
import {
  ensResolverAbi,
  ensResolverBytecode,
} from '../../../contracts/evm/artifacts/EnsResolver.js'
import type { EnsAnswer } from '../../../src/ens/answer.js'
import { callOf, ENS_CHAIN_ID, ensKey, lookupOf, parentsWith } from '../../support/ens.js'
import { type Accounts, callsOf, startChain } from './chain.js'

export const URLS = ['https://one.example/ens/{sender}/{data}.json', 'https://two.example/ens']
/** Time for which the good answer counts, as the gateway's do. */
const VALID_S = 300
const RESULT = encodeAbiParameters([{ type: 'address' }], [`0x${'a1'.repeat(20)}`])
/** The same as a call of the resolver returns it. */
export const RETURNED = encodeAbiParameters([{ type: 'bytes' }], [RESULT])
export const encode = callsOf(ensResolverAbi)

/** A resolver of one signer, and a good answer to a look-up. */
export async function startEnsWorld(urls = URLS) {
  const chain = await startChain(ENS_CHAIN_ID)
  const [owner, anybody] = chain.accounts as Accounts
  const args = [owner, ensKey.address, urls] as const
  const resolver = await chain.deploy(
    encodeDeployData({ abi: ensResolverAbi, bytecode: ensResolverBytecode, args }),
  )
  const expiresS = Number((await chain.publicClient.getBlock()).timestamp) + VALID_S
  const lookup = lookupOf('alice.bundles.eth', callOf('addr(bytes32)'))
  const answer: EnsAnswer = {
    parentSettings: parentsWith(resolver).mainnet,
    request: keccak256(lookup),
    result: RESULT,
    expiresS,
  }
  const tx = (data: Hex, from = anybody) => ({ from, to: resolver, data })
  const proof = (response: Hex, extraData: Hex = answer.request) =>
    tx(encode('resolveWithProof', [response, extraData]))
  return {
    ...chain,
    owner,
    anybody,
    resolver,
    lookup,
    answer,
    tx,
    proof,
    set: (place: bigint, signer: Hex, from = owner) =>
      tx(encode('setSigner', [place, signer]), from),
    reasonOf: (one: ReturnType<typeof tx>) => chain.revertOf(one, ensResolverAbi),
    read: async (response: Hex, extraData?: Hex) =>
      (await chain.publicClient.call({ ...proof(response, extraData), account: anybody })).data,
  }
}
