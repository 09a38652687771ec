import type { Hex } from 'viem'
import type { ChainsFile } from '../config/chainsFile.js'
import { fromHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import { createEnsAnswerSigner, type SignEnsAnswer } from './answer.js'
import { decodeResolverCall } from './calls.js'
import { EnsRequestError } from './error.js'
import { decodeEnsName } from './name.js'
import { type EnsRecordLookups, resolveRecord } from './records.js'

const SENDER_PATTERN = /^0x[0-9a-f]{40}$/i
/** Matches calldata that fits into a URL. */
const DATA_PATTERN = /^0x(?:[0-9a-f]{2}){4,2000}$/i

/** CCIP-Read gateway (ERC-3668) for the names below the configured ENS names. */
export type EnsGateway = ReturnType<typeof createEnsGateway>

/**
 * Creates the gateway: it returns signed answers to calls of `resolve(name, data)`, or throws EnsRequestError. Answers
 * are signed for the resolver of the configuration, not for `sender`, since universal resolvers change the sender.
 * @param now current Unix time, ms
 */
export function createEnsGateway(parents: ChainsFile['ens'], sign: SignEnsAnswer, now = Date.now) {
  const signAnswer = createEnsAnswerSigner(sign, now)
  return async (
    request: { sender: string; data: string },
    lookups: Readonly<Record<Network, EnsRecordLookups>>,
  ): Promise<Hex> => {
    if (!SENDER_PATTERN.test(request.sender))
      throw new EnsRequestError('The sender is not 0x and 40 hex digits.')
    if (!DATA_PATTERN.test(request.data))
      throw new EnsRequestError('The data is not 0x and 4 to 2,000 bytes in hex.')
    const data = request.data.toLowerCase() as Hex
    const outer = decodeResolverCall(data)
    if (outer.name !== 'resolve')
      throw new EnsRequestError('The data is no call of resolve(bytes,bytes).')
    const [dnsName, inner] = outer.args as readonly [Hex, Hex]
    const call = decodeResolverCall(inner)
    const name = decodeEnsName(fromHex(dnsName), parents)
    return signAnswer(
      data,
      name.parentSettings,
      call.encode(await resolveRecord(name, call, lookups[name.network])),
    )
  }
}
