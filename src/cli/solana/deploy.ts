import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import { deployProgram, readDeployedProgram } from '../../chains/solana/deployment/deploy.js'
import { isRegistrarCode, readRegistrarCode } from '../../chains/solana/deployment/loader.js'
import { ConfigError } from '../../config/index.js'
import { printJson } from '../output.js'
import { confirmOnTerminal } from '../signing/signing.js'
import {
  openRegistrarOfOptions,
  readDraftSolanaClusterSettings,
  readKeypairFile,
  type SolanaSigningOptions,
} from './solana.js'

interface DeployOptions extends SolanaSigningOptions {
  keypair: string
  programKeypair?: string
}

/**
 * `clusterd solana deploy`: deploys the registrar through the upgradeable loader, unless it is deployed, and prints its
 * id and slot for the chains file. A run after a crash continues with the same program and buffer.
 * @throws Error with one sentence
 */
export async function deployRegistrar(options: DeployOptions): Promise<void> {
  const { unitPrice } = options
  const { file, network, config } = readDraftSolanaClusterSettings(options)
  const rpc = createSolanaRpc(config)
  const payer = readKeypairFile(options.keypair, '--keypair')
  const keyFile = options.programKeypair ?? join(dirname(file), `registrar-${network}.json`)
  const program = config.programId ? null : readOrCreateProgramKeypair(keyFile)
  const programId = config.programId ? new PublicKey(config.programId) : program!.publicKey
  let deployed = await readDeployedProgram(rpc, programId)
  if (deployed && !isRegistrarCode(deployed.code))
    throw new Error(
      `${programId.toBase58()} is another program: see \`clusterd solana upgrade-check\`.`,
    )
  if (!deployed) {
    if (!program)
      throw new ConfigError(
        `${programId.toBase58()} is no program there: take it out of ${file} to deploy.`,
      )
    await confirmOnTerminal(
      `Deploy the registrar as ${programId.toBase58()}, paid by ${payer.publicKey.toBase58()}?`,
      options,
    )
    const onProgress = (written: number, pieces: number) => {
      if (written % 10 === 0 || written === pieces) console.log(`written ${written} of ${pieces}`)
    }
    await deployProgram(rpc, { payer, program, code: readRegistrarCode(), unitPrice, onProgress })
    deployed = await readDeployedProgram(rpc, programId)
  }
  if (!deployed) throw new Error('The program does not show up yet: run the command again.')
  const { slot, upgradeAuthority } = deployed
  printJson({ programId: programId.toBase58(), startSlot: Number(slot) })
  console.log(
    `Put both into ${file}, solana.${network}. The upgrade authority is ${upgradeAuthority?.toBase58()}.`,
  )
  console.log('Next: `clusterd solana init`, signed by it.')
}

/**
 * Reads the program's own keypair, which signs only the program's deployment. If the file does not exist, a new keypair
 * is created and stored there.
 */
function readOrCreateProgramKeypair(file: string): Keypair {
  if (!existsSync(file)) {
    writeFileSync(file, JSON.stringify([...Keypair.generate().secretKey]), {
      mode: 0o600,
      flag: 'wx',
    })
    console.log(`Made the program's key: ${file}.`)
  }
  return readKeypairFile(file, '--program-keypair')
}

/** SHA-256 of deployed program code, cut to the length of our build. `registrar.so.sha256` has the build's hash. */
const codeChecksum = (code: Buffer): string =>
  createHash('sha256').update(code.subarray(0, readRegistrarCode().length)).digest('hex')

/**
 * `clusterd solana upgrade-check`: compares the deployed program with our build, byte for byte, and prints who can
 * replace it. Exits with 1 if they differ.
 */
export async function checkDeployedProgram(options: SolanaSigningOptions): Promise<void> {
  const { programId, rpc } = openRegistrarOfOptions(options)
  const deployed = await readDeployedProgram(rpc, new PublicKey(programId))
  const isOurs = deployed !== null && isRegistrarCode(deployed.code)
  const known = isOurs ? 'ours' : 'another'
  printJson({
    programId,
    code: deployed === null ? 'none' : known,
    sha256: deployed && codeChecksum(deployed.code),
    deployedSlot: deployed && Number(deployed.slot),
    upgradeAuthority:
      deployed && (deployed.upgradeAuthority?.toBase58() ?? 'none: the program is final'),
  })
  if (!isOurs) process.exitCode = 1
}
