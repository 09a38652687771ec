import { expect, it } from 'vitest'
import { ChainUnavailableError } from '../chains/chain.js'
import { RpcError } from '../chains/rpc/errors.js'
import { DatabaseConnectionError } from '../db/pg/connecting.js'
import { chainErrorSentence, errorCause } from './causes.js'
import { errorSentence } from './logger/errors.js'

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6432'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
})
const ofServer = (code: string, message = 'words of the server') =>
  Object.assign(new Error(message), { severity: 'ERROR', code })
const named = (name: string) => Object.assign(new Error('a sentence'), { name })

it.each([
  ['all RPC URLs away', new ChainUnavailableError('chain "1"', { cause: refused }), 'other'],
  ['a node that refuses', new RpcError('transient', 'x', null, { cause: refused }), 'other'],
  ['a wrapped failure of a node', new Error('x', { cause: named('RpcError') }), 'other'],
  ['a pooler that is dead', new DatabaseConnectionError('the database', refused), 'database'],
  ['a socket of the driver', refused, 'database'],
  ['a full disk', ofServer('53100'), 'database'],
  ['a missing right', new Error('x', { cause: ofServer('42501') }), 'database'],
  ['a connection cut in mid-query', new Error('Connection terminated unexpectedly'), 'database'],
  ['a full pool', new Error('timeout exceeded when trying to connect'), 'database'],
  ['a commit without its standby', named('NotReplicatedError'), 'database'],
  ['clocks that differ', named('ClockError'), 'clock'],
  ['our own code', new TypeError('x is undefined'), 'other'],
  ['no error at all', 'text', 'other'],
])('%s', (_, error, cause) => {
  expect(errorCause(error)).toBe(cause)
})

it.each([
  ['all RPC URLs away', new ChainUnavailableError('no RPC URL answers'), 'no RPC URL answers'],
  ['a pooler that is dead', new DatabaseConnectionError('the database', refused), null],
  ['clocks that differ', named('ClockError'), null],
  ['our own code', new TypeError('x is undefined'), null],
])('a chain is blamed for its own failures alone: %s', (_, error, sentence) => {
  expect(chainErrorSentence(error)).toBe(sentence)
})

it.each([
  [ofServer('53100'), 'the disk of the database is full'],
  [
    ofServer('42501', 'permission denied for table sessions'),
    'the database role does not have a right: table sessions',
  ],
  [ofServer('42501', 'row "secret" refused'), 'the database role does not have a right'],
  [ofServer('53300'), 'the database takes no more connections (max_connections)'],
  [
    new Error('Connection terminated due to connection timeout'),
    'the database took no connection in time',
  ],
])('an error of the database has words: %s', (error, sentence) => {
  // as a library's: its place is no file of ours
  error.stack = `${error.name}: ${error.message}\n    at Client (/x/node_modules/pg/lib/client.js:1:1)`
  expect(errorSentence(error)).toBe(sentence)
})
