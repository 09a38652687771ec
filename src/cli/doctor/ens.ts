import { ccipRequest, concat, createPublicClient, custom, type Hex, namehash } from 'viem'
import { packetToBytes } from 'viem/ens'
import { contractErrorOfRevert } from '../../chains/evm/bridge/calls.js'
import { ensResolverAbi } from '../../chains/evm/contracts/index.js'
import {
  createContractReader,
  encodeContractCall,
  isContract,
} from '../../chains/evm/contracts/read.js'
import {
  ENS_REGISTRY,
  ensRegistryAbi,
  ensResolverChainOf,
} from '../../chains/evm/deployment/ens.js'
import { fallbackIfRefused } from '../../chains/rpc/errors.js'
import type { RpcCall } from '../../chains/rpc/evm.js'
import type { EnsParentSettings } from '../../config/chainsFile.js'
import type { Config } from '../../config/index.js'
import { encodeSetPrimaryNameCalldata } from '../../ens/primary.js'
import {
  type DoctorCheckResult,
  failureResult,
  okResult,
  runDoctorCheck,
  warningResult,
} from '../../ops/finding.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS } from '../../registry/primitives/network.js'

/** Time limit for an answer of the ENS gateway. It is shorter than the time limit of a check. */
const GATEWAY_LIMIT_MS = 10_000

type EnsConfig = Pick<Config, 'chains' | 'ens'>

/**
 * For each ENS parent name: resolves a name below it as a client does, and reports the first step that fails. Also
 * checks the reverse registrars.
 */
export async function checkEnsNames({ chains, ens }: EnsConfig) {
  const advice = 'See the nodes, `resolver` and `registry` in `ens`.'
  // the chain comes first in a title, where `omitConsequentOutages` reads it
  const on = (chainId: number) =>
    `chain ${chains.find((chain) => chain.chainId === chainId)?.label ?? chainId}`
  const checksOf = (one: EnsParentSettings) => [
    runDoctorCheck(`${on(one.chainId)}, ENS name ${one.parent}`, advice, async () =>
      checkResolution(ensResolverChainOf(chains, one).rpc.call, one),
    ),
    ...Object.entries(one.reverseRegistrars ?? {}).map(([id, registrar]) =>
      runDoctorCheck(`${on(Number(id))}, reverse registrar of ${one.parent}`, advice, () =>
        checkRegistrar(chains, one, Number(id), registrar),
      ),
    ),
  ]
  return Promise.all(NETWORKS.flatMap((network) => ens[network] ?? []).flatMap(checksOf))
}

/**
 * Simulates (eth_call) the call by which a wallet sets its primary name at a reverse registrar. Returns a warning
 * where the chains file does not list the registrar's chain.
 */
async function checkRegistrar(
  chains: EnsConfig['chains'],
  parent: EnsParentSettings,
  chainId: number,
  registrar: Hex,
): Promise<DoctorCheckResult> {
  const isListed = chainId === parent.chainId || chains.some((chain) => chain.chainId === chainId)
  if (!isListed)
    return warningResult(
      `${registrar} is not checked: the chains file does not list that chain`,
      'See on a node of that chain that the contract has `setName(string)`.',
    )
  const { call } = ensResolverChainOf(chains, { ...parent, chainId }).rpc
  const correct = 'Correct `reverseRegistrars` in `ens` (docs/use/ens.md).'
  if (!(await isContract(call, registrar)))
    return failureResult(`${registrar} has no code`, correct)
  const data = encodeSetPrimaryNameCalldata(`doctor.${parent.parent}`)
  const request = call<Hex>('eth_call', [{ to: registrar, data }, 'latest'])
  return (await fallbackIfRefused(request, null)) === null
    ? failureResult(`${registrar} refuses setName(string)`, correct)
    : okResult(registrar)
}

/** Checks the resolver that ENS's registry names for the parent name, then resolves a name below it. */
async function checkResolution(
  call: RpcCall,
  { parent, resolver, registry = ENS_REGISTRY }: EnsParentSettings,
): Promise<DoctorCheckResult> {
  const deploying = `run \`clusterd contracts deploy --ens ${parent}\`.`
  const correct = `Correct \`resolver\` in \`ens\`, or ${deploying}`
  const ofRegistry = createContractReader(call, registry, ensRegistryAbi)
  const named = (await ofRegistry('resolver', [namehash(parent)])).toLowerCase()
  if (named !== resolver)
    return failureResult(`the registry names ${named}, not ${resolver}`, correct)
  const ofResolver = createContractReader(call, resolver, ensResolverAbi)
  if (!(await ofResolver('supportsInterface', ['0x9061b923'])))
    return failureResult(`${resolver} is no wildcard resolver (ENSIP-10)`, correct)
  const broken: DoctorCheckResult[] = []
  const requestOptions = { signal: AbortSignal.timeout(GATEWAY_LIMIT_MS) }
  const client = createPublicClient({
    transport: custom({ request: ({ method, params }) => call(method, params) }, { retryCount: 0 }),
    ccipRead: {
      request: (lookup) =>
        ccipRequest({ ...lookup, requestOptions }).catch((error: { status?: number }) => {
          const [problem, mend] = error.status
            ? [`answers HTTP ${error.status}`, 'Give the API there `ens` and its key']
            : ['gives no answer of a gateway', 'Start the API there']
          broken.push(
            failureResult(
              `${lookup.urls.join(', ')} ${problem}`,
              `${mend}, or correct SITE_URL and ${deploying}`,
            ),
          )
          throw error
        }),
    },
  })
  // `addr(bytes32)` of a name under the parent; the gateway also answers for a name that is not registered
  const name = `doctor.${parent}`
  const args = [toHex(packetToBytes(name)), concat(['0x3b3b57de', namehash(name)])] as const
  const data = encodeContractCall(ensResolverAbi, 'resolve', args)
  await client.call({ to: resolver, data }).catch((error: unknown) => {
    const reason = contractErrorOfRevert(error)?.replaceAll('_', ' ') ?? 'no reason'
    const advice = `Give the API this chains file and a signer's key, set its clock by NTP, or ${deploying}`
    broken.push(failureResult(`the resolver refuses the answer (${reason})`, advice))
  })
  return broken[0] ?? okResult(`resolves by ${resolver}`)
}
