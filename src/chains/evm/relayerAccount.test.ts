import type { TransactionSerializableEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { createSigningAccount, SignerUnavailableError } from './relayerAccount.js'

/** Which errors of a remote signer count as the signer's fault. */

const ownAccount = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const { address } = ownAccount
const TX: TransactionSerializableEIP1559 = {
  type: 'eip1559',
  chainId: 1,
  nonce: 3,
  gas: 21_000n,
  to: address,
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
}
const TYPED_DATA = {
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
  return createSigningAccount({ signerUrl, address })
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
    await expect(account.signTypedData(TYPED_DATA)).rejects.toThrow(SignerUnavailableError)
  })
})

describe('a signature of something else', () => {
  const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
  const long = `0x${'ab'.repeat(50_000)}` as const

  it.each<[string, Partial<TransactionSerializableEIP1559>, string]>([
    ['another nonce', { nonce: 8 }, 'nonce 8, expected 3'],
    ['no nonce', { nonce: 0 }, 'nonce 0, expected 3'],
    [
      'a value and another gas',
      { value: 1n, gas: 2n },
      'gas 2, expected 21000; value 1, expected none',
    ],
    ['calldata', { data: '0x01' }, 'data 0x01, expected none'],
    ['an access list', { accessList: [{ address, storageKeys: [] }] }, 'accessList '],
    ['too much', { data: long }, `data ${long.slice(0, 80)}, expected none`],
  ])('names %s', async (_, change, sentence) => {
    const account = await accountWith(await ownAccount.signTransaction({ ...TX, ...change }))
    await expect(account.signTransaction(TX)).rejects.toThrow(
      `the remote signer: it signed another transaction: ${sentence}`,
    )
  })

  it('names the key that signed, and the expected one', async () => {
    const message = `the remote signer signed with the key of ${other.address}, expected ${address}`
    const signing = await accountWith(await other.signTransaction(TX))
    await expect(signing.signTransaction(TX)).rejects.toThrow(message)
    const data = {
      ...TYPED_DATA,
      types: { A: [{ name: 'a', type: 'string' }] },
      message: { a: '1' },
    }
    const typed = await accountWith(await other.signTypedData(data))
    await expect(typed.signTypedData(data)).rejects.toThrow(message)
  })

  it('returns what was signed as requested', async () => {
    const raw = await ownAccount.signTransaction(TX)
    expect(await (await accountWith(raw)).signTransaction(TX)).toBe(raw)
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
    const typed = { ...TYPED_DATA, message } as unknown as typeof TYPED_DATA
    await expect(account.signTypedData(typed)).rejects.toBe(mistake)
  })
})
