import type { TransactionSerializableEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { relayerAccount, SignerUnavailableError } from './relayerAccount.js'

/** Which errors of a remote signer count as the signer's fault. */

const { address } = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const TX: TransactionSerializableEIP1559 = {
  type: 'eip1559',
  chainId: 1,
  nonce: 3,
  gas: 21_000n,
  to: address,
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
}
const DATA = {
  domain: { chainId: 1 },
  types: { A: [{ name: 'a', type: 'uint256' }] },
  primaryType: 'A',
  message: { a: 1n },
} as const

/** An account whose remote signer gives the same answer to every request. */
async function accountWith(result: unknown) {
  const signerUrl = await serveInTest((req, res) => {
    void bodyOf(req).then((body) => {
      const { id } = JSON.parse(body)
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  return relayerAccount({ signerUrl, address })
}

describe('an answer that is not a signature is a fault of the signer', () => {
  it.each([
    ['nothing', null],
    ['a number', 7],
    ['a list', []],
    ['an object', { raw: '0x02' }],
    ['an empty text', ''],
    ['no hex', 'signed'],
    ['empty bytes', '0x'],
    ['bytes of no transaction', '0x0123'],
    ['a transaction without a signature', '0x02c98001020382520880'],
    ['a signature of zeros', `0x${'00'.repeat(65)}`],
  ])('%s', async (_, result) => {
    const account = await accountWith(result)
    await expect(account.signTransaction(TX)).rejects.toThrow(SignerUnavailableError)
    await expect(account.signTypedData(DATA)).rejects.toThrow(SignerUnavailableError)
  })
})

describe('an error of our own code', () => {
  const mistake = new TypeError('a mistake')

  it('is thrown unchanged while the request is built', async () => {
    const account = await accountWith('0x02')
    const broken = {
      ...TX,
      get value(): bigint {
        throw mistake
      },
    }
    // copies the transaction with its getter
    const tx = Object.defineProperties({}, Object.getOwnPropertyDescriptors(broken))
    await expect(account.signTransaction(tx as typeof TX)).rejects.toBe(mistake)
    const message = Object.defineProperty({}, 'a', {
      get() {
        throw mistake
      },
      enumerable: true,
    })
    const typed = { ...DATA, message } as unknown as typeof DATA
    await expect(account.signTypedData(typed)).rejects.toBe(mistake)
  })
})
