import { Keypair } from '@solana/web3.js'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import { createHubPriceReader } from '../../chains/solana/rates.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import { createSolanaSigner } from '../../chains/solana/signer.js'
import type { ChainConfig, Config, SolanaConfig } from '../../config/index.js'
import { LOW_BALANCE_LAMPORTS } from '../../ops/alarms.js'
import {
  type DoctorFinding,
  failureResult,
  okResult,
  runDoctorCheck,
  warningResult,
} from '../../ops/finding.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'

const LAMPORTS_PER_SOL = 1e9

/**
 * Checks of every Solana chain: each RPC URL, the program, the relay authority's balance, and the price feeds on the
 * hub.
 */
export async function checkSolanaClusters({
  chains,
  solana,
  relayKeys,
}: Config): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const network of NETWORKS) {
    const settings = solana[network]
    if (!settings) continue
    const hub = chains.find((chain) => chain.network === network && chain.role === 'hub')!
    findings.push(...(await checkSolanaCluster(network, settings, relayKeys.solana)))
    findings.push(await checkPriceFeeds(hub, settings))
  }
  return findings
}

const checkPriceFeeds = (hub: ChainConfig, { feeds }: SolanaConfig): Promise<DoctorFinding> =>
  runDoctorCheck(
    `chain ${hub.label}, price feeds`,
    'Correct `feeds`, or wait for the feed: no quotes on Solana meanwhile.',
    async () => {
      await createHubPriceReader(createEvmChainRpc(hub), feeds)()
      return okResult('fresh')
    },
  )

async function checkSolanaCluster(
  network: Network,
  config: SolanaConfig,
  secretKey: Uint8Array | undefined,
): Promise<DoctorFinding[]> {
  const about = `solana ${network}`
  const urls = config.rpcUrls.map(async (url): Promise<DoctorFinding> => {
    const host = `${about}, ${new URL(url).host}`
    const finding = await runDoctorCheck(host, 'Correct `rpcUrls`, or see that node.', async () => {
      const slot = await createSolanaRpc({ ...config, rpcUrls: [url] }).call<number>('getSlot', [])
      return okResult(`slot ${slot}`)
    })
    return { ...finding, isNode: true }
  })
  const rpc = createSolanaRpc(config)
  const { commitment, maxUnitPrice } = config
  const registrar = createRegistrarClient(config.programId)
  const signer = createSolanaSigner({
    rpc,
    registrar,
    commitment,
    maxUnitPrice,
    // the signer only reads here, so a random key replaces a missing one
    secretKey: secretKey ?? Keypair.generate().secretKey,
  })
  const program = runDoctorCheck(`${about}, program`, 'See the RPC URLs.', async () => {
    const authority = await signer.relayAuthority()
    if (!authority)
      return failureResult(
        `${config.programId} is not initialized`,
        'Deploy it, then `clusterd solana init` (docs/build/solana-program.md).',
      )
    if (secretKey && !authority.equals(signer.authority))
      return failureResult(
        `its relay authority is ${authority.toBase58()}, not ${signer.authority.toBase58()}`,
        'Give the daemon that key, or `clusterd solana authorities`.',
      )
    return secretKey
      ? okResult(`relay authority ${authority.toBase58()}`)
      : warningResult(
          `relay authority ${authority.toBase58()}`,
          'No key of it is given: payments are neither settled nor refunded.',
        )
  })
  const balance = runDoctorCheck(`${about}, relay authority`, 'See the RPC URLs.', async () => {
    const lamports = await signer.balance()
    const balance = `${Number(lamports) / LAMPORTS_PER_SOL} SOL`
    return lamports < LOW_BALANCE_LAMPORTS
      ? warningResult(balance, `Send SOL to ${signer.authority.toBase58()}.`)
      : okResult(balance)
  })
  return Promise.all([...urls, program, ...(secretKey ? [balance] : [])])
}
