import { describe, expect, it } from 'vitest'
import { requireRpcAnswerForm } from './forms.js'

const validLog = {
  address: '0x01',
  topics: ['0x02'],
  data: '0x',
  blockNumber: '0x1',
  blockHash: '0x03',
  transactionHash: '0x04',
  logIndex: '0x0',
}

describe('the form of a list of logs', () => {
  it('is that of each log', () => {
    expect(requireRpcAnswerForm('eth_getLogs', [validLog, validLog])).toEqual([validLog, validLog])
  })

  it.each([
    ['an object', {}],
    ['a log without topics', [{ ...validLog, topics: undefined }]],
    ['a topic that is a number', [{ ...validLog, topics: ['0x02', 2] }]],
  ])('is not that of %s', (_, answer) => {
    expect(() => requireRpcAnswerForm('eth_getLogs', answer)).toThrow('has another form')
  })

  it('is checked up to the first wrong element: a node may answer with millions', () => {
    let read = 0
    const wrong = () => ({
      get address() {
        read += 1
        return 1
      },
    })
    const answer = Array.from({ length: 1_000 }, wrong)
    expect(() => requireRpcAnswerForm('eth_getLogs', answer)).toThrow('has another form')
    expect(read).toBeLessThan(10)
  })
})

describe('numbers of a Solana node', () => {
  const simulated = (unitsConsumed: unknown) => ({ value: { err: null, unitsConsumed } })

  it.each<[string, Parameters<typeof requireRpcAnswerForm>[0], unknown]>([
    ['a fraction of a fee', 'getRecentPrioritizationFees', [{ prioritizationFee: 1.5 }]],
    ['a negative slot', 'getSlot', -1],
    ['a fraction of a unit', 'simulateTransaction', simulated(1.5)],
    ['more units than a transaction may use', 'simulateTransaction', simulated(2 ** 40)],
  ])('are not %s', (_, method, answer) => {
    expect(() => requireRpcAnswerForm(method, answer)).toThrow('has another form')
  })

  it.each([0, 1_400_000, undefined, null])('are compute units such as %s', (units) => {
    expect(requireRpcAnswerForm('simulateTransaction', simulated(units))).toEqual(simulated(units))
  })
})
