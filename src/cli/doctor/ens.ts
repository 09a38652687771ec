import { ccipRequest, concat, createPublicClient, custom, encodeFunctionData, namehash } from 'viem'
import { packetToBytes } from 'viem/ens'
import { revertReason } from '../../chains/evm/bridge/calls.js'
import { ensResolverAbi } from '../../chains/evm/contracts/index.js'
import { readContract } from '../../chains/evm/contracts/read.js'
import { ENS_REGISTRY, ensChainOf, ensRegistryAbi } from '../../chains/evm/deployment/ens.js'
import type { Call } from '../../chains/rpc/evm.js'
import type { EnsParent } from '../../config/chainsFile.js'
import type { Config } from '../../config/index.js'
import { type CheckResult, failure, okResult, runCheck } from '../../ops/finding.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS } from '../../registry/primitives/network.js'

/** Shorter than the time limit of a check. */
const GATEWAY_LIMIT_MS = 10_000

/** Resolves a name under each parent like a client does, and reports the first step that fails. */
export async function ensFindings({ chains, ens }: Pick<Config, 'chains' | 'ens'>) {
  const advice = 'See the nodes, `resolver` and `registry` in `ens`.'
  const look = (one: EnsParent) =>
    runCheck(`ENS name ${one.parent}`, advice, async () =>
      walk(ensChainOf(chains, one).rpc.call, one),
    )
  return Promise.all(NETWORKS.flatMap((network) => ens[network] ?? []).map(look))
}

async function walk(
  call: Call,
  { parent, resolver, registry = ENS_REGISTRY }: EnsParent,
): Promise<CheckResult> {
  const deploying = `run \`clusterd contracts deploy --ens ${parent}\`.`
  const correct = `Correct \`resolver\` in \`ens\`, or ${deploying}`
  const question = {
    abi: ensRegistryAbi,
    functionName: 'resolver',
    args: [namehash(parent)],
  } as const
  const named = (await readContract(call, registry, question)).toLowerCase()
  if (named !== resolver) return failure(`the registry names ${named}, not ${resolver}`, correct)
  const claim = {
    abi: ensResolverAbi,
    functionName: 'supportsInterface',
    args: ['0x9061b923'],
  } as const
  if (!(await readContract(call, resolver, claim)))
    return failure(`${resolver} is no wildcard resolver (ENSIP-10)`, correct)
  const broken: CheckResult[] = []
  const requestOptions = { signal: AbortSignal.timeout(GATEWAY_LIMIT_MS) }
  const client = createPublicClient({
    transport: custom({ request: ({ method, params }) => call(method, params) }, { retryCount: 0 }),
    ccipRead: {
      request: (asked) =>
        ccipRequest({ ...asked, requestOptions }).catch((error: { status?: number }) => {
          const [found, mend] = error.status
            ? [`answers HTTP ${error.status}`, 'Give the API there `ens` and its key']
            : ['gives no answer of a gateway', 'Start the API there']
          broken.push(
            failure(
              `${asked.urls.join(', ')} ${found}`,
              `${mend}, or correct SITE_URL and ${deploying}`,
            ),
          )
          throw error
        }),
    },
  })
  // `addr(bytes32)` of a name under the parent; the gateway also answers for a name that nobody has
  const name = `doctor.${parent}`
  const args = [toHex(packetToBytes(name)), concat(['0x3b3b57de', namehash(name)])] as const
  const data = encodeFunctionData({ abi: ensResolverAbi, functionName: 'resolve', args })
  await client.call({ to: resolver, data }).catch((error: unknown) => {
    const reason = revertReason(error)?.replaceAll('_', ' ') ?? 'no reason'
    const advice = `Give the API this chains file and a signer's key, set its clock by NTP, or ${deploying}`
    broken.push(failure(`the resolver refuses the answer (${reason})`, advice))
  })
  return broken[0] ?? okResult(`resolves by ${resolver}`)
}
