import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Address, encodeDeployData, type Hex } from 'viem'
import type { Step } from '../chains/send.js'

const ARTIFACT = '@layerzerolabs/lz-evm-protocol-v2/artifacts/contracts/EndpointV2.sol/EndpointV2.json'

/** Gas limit; EndpointV2's deployment takes about 4.6 million. */
const ENDPOINT_GAS = 6_000_000n

/**
 * Loads LayerZero's EndpointV2 as compiled by LayerZero. The licence is LZBL-1.2, so the artifact is read from the
 * optional dependency and never copied into this project.
 * @throws Error if the package is not installed
 */
function loadEndpointArtifact(): { abi: Abi; bytecode: Hex } {
  let file: string
  try {
    file = createRequire(import.meta.url).resolve(ARTIFACT)
  } catch {
    throw new Error(
      'LayerZero contracts are not installed: run `npm install @layerzerolabs/lz-evm-protocol-v2@3.0.168` (needed by local chains only)',
    )
  }
  return JSON.parse(readFileSync(file, 'utf8')) as { abi: Abi; bytecode: Hex }
}

/** Creation transaction of an EndpointV2 with this endpoint id. */
export function endpointCreation(eid: number, owner: Address): Step {
  const { abi, bytecode } = loadEndpointArtifact()
  return {
    label: 'deploying EndpointV2',
    data: encodeDeployData({ abi, bytecode, args: [eid, owner] }),
    gas: ENDPOINT_GAS,
  }
}
