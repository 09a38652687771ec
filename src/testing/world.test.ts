import { toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { TEST_MNEMONIC } from './chains/anvil.js'
import { operatorAccount, testAccount, worldAccounts } from './world.js'

it('The accounts of a world are those of its mnemonic, derived once', () => {
  for (const [addressIndex, accountIndex] of [[0, 0] as const, [9, 0] as const, [2, 1] as const]) {
    const account = testAccount(addressIndex, accountIndex)
    const byViem = mnemonicToAccount(TEST_MNEMONIC, { addressIndex, accountIndex })
    expect([account.address, account.privateKey]).toEqual([byViem.address, toHex(byViem.getHdKey().privateKey!)])
    expect(testAccount(addressIndex, accountIndex)).toBe(account)
  }
  expect(worldAccounts()[0]!.address).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
  expect(operatorAccount('relayer')).toBe(testAccount(2, 1))
})
