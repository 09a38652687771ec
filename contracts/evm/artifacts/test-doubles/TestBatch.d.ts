// Generated from contracts/evm/test-doubles/TestBatch.sol by `npm run contracts`; not to be edited.
export declare const testBatchAbi: readonly [
  { inputs: readonly [{ components: readonly [{ internalType: "address"; name: "to"; type: "address" }, { internalType: "uint256"; name: "value"; type: "uint256" }, { internalType: "bytes"; name: "data"; type: "bytes" }]; internalType: "struct TestBatch.Call[]"; name: "calls"; type: "tuple[]" }]; name: "run"; outputs: readonly []; stateMutability: "payable"; type: "function" },
  { stateMutability: "payable"; type: "receive" },
]
export declare const testBatchBytecode: `0x${string}`
