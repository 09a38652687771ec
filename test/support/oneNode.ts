import ts from 'typescript'

/**
 * Functions that may trust one node, as the beginning of "path function", each with the reason why nothing final
 * depends on the answer. What becomes final is asked with `quorum` or `agreed`, or of every node with a least number.
 */
export const ONE_NODE: Readonly<Record<string, string>> = {
  'chains/evm/bridge/quote.ts createSpokeQuoter':
    'a quote: the wallet signs, and the contract checks the amounts',
  'chains/evm/chain.ts heads':
    'the newest block; the confirmed one is agreed before anything is written',
  'chains/evm/chain.ts readOwedMoney':
    'shown debts and a transaction to sign: the contract pays what it owes',
  'chains/evm/chain.ts primaryName': 'the shown present name, beside transactions to sign',
  'chains/evm/chain.ts replacement': 'a candidate, which two nodes have to confirm',
  'chains/evm/chain.ts prepareWithdrawal':
    'the bridge’s fee in a transaction to sign; two nodes are asked for the bidder’s code',
  'chains/evm/community/port.ts communityPayment':
    'an allowance: a needless or missing approval makes the payment fail',
  'chains/evm/deployment/': 'commands that an operator runs and checks',
  'chains/evm/runningHash/prove.ts readLastConfirmedHashes':
    'a header: two nodes return the running hashes as of its hash',
  'chains/evm/runningHash/rangeFetcher.ts foldAhead':
    'a header: two nodes return the running hashes as of its hash',
  'chains/evm/signer.ts look': '`combineEvmJobStates` counts the nodes',
  'chains/evm/signer.ts prepare':
    'gas and fees, below the caps; every node is asked where no transaction is signed by them',
  'chains/evm/smartWallet.ts createCodeCheck': 'whether to ask two nodes about a signature at all',
  'chains/rpc/strangers.ts readTxByTwoNodes':
    'a state that is not final; a final one is asked of two nodes',
  'chains/solana/community/port.ts communityPayment':
    'a transaction to sign, which the program checks',
  'chains/solana/deployment/': 'commands that an operator runs and checks',
  'chains/solana/openPayments.ts owed':
    'shown debts and transactions to sign: the program pays what it owes',
  'testing/solana/registrar.ts deployRegistrar': 'the only node of the local world’s cluster',
  'chains/solana/quote.ts createSolanaQuoter': 'a blockhash: a wrong one makes the payment fail',
  'chains/solana/signer.ts areHeld':
    'held on any node: only an outcome that two nodes gave ends a job',
  'chains/solana/signer.ts balance': 'a pause while the authority can not pay fees',
  'chains/solana/signer.ts relayAuthority': 'a line in the log, and doctor',
  'chains/solana/signer.ts sign':
    'a blockhash, from another node at each attempt, and a price below the cap; a false last block is noticed later',
  'chains/solana/signer.ts statuses':
    'a wrong status, from another node each time, leads to another attempt, and the program pays a sequence once',
  'cli/': 'commands that an operator runs and checks',
  'daemon/families/evmChecks.ts': 'doctor',
  'daemon/families/solanaChecks.ts': 'doctor',
  'daemon/proof.ts proveNames': 'the block as of which two nodes return the owners',
  'indexer/airdrops.ts #followTail': 'unconfirmed claims, which give no name',
  'indexer/evm/chainIndexer.ts #hasReadByHash':
    'which of two ways reads confirmed blocks: both ask two nodes',
  'indexer/evm/cursor.ts':
    'headers that a fork is searched with: a halt needs two nodes (test/indexer/liars.test.ts)',
  'indexer/evm/tail.ts readNewBlocks': 'unconfirmed blocks',
  'indexer/solana/watcher.ts #storeTail':
    'unconfirmed payments, which are neither delivered nor judged',
  'relayer/evmRelayer.ts readBalance': 'a metric',
  'relayer/nonces.ts #observe':
    'a count that equals the stored one; another one needs two observations',
}

/** Expressions that stand for a pool of nodes: `rpc`, `hub.rpc`, `createEvmRpc(…)`. */
const POOL = /rpc(\(.*\))?$/is

/** The functions of a file that call one node, or every node without a least number, as "path function". */
export function usesOfOneNode(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const uses: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && isOfOneNode(node, file))
      uses.push(`${path} ${nameOfFunctionAround(node)}`)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return uses
}

function isOfOneNode(
  { name, expression, parent }: ts.PropertyAccessExpression,
  file: ts.SourceFile,
): boolean {
  if (['onOneNode', 'inTurn'].includes(name.text)) return true
  if (name.text === 'onEveryNode') return ts.isCallExpression(parent) && parent.arguments.length < 2
  return name.text === 'call' && POOL.test(expression.getText(file))
}

/** Name of the nearest function or method with a name. Empty at the top of a file. */
function nameOfFunctionAround(node: ts.Node): string {
  for (let at = node.parent; at; at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name)
      return at.name.getText()
    if (
      (ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at)) &&
      at.initializer &&
      ts.isArrowFunction(at.initializer)
    )
      return at.name.getText()
  }
  return ''
}
